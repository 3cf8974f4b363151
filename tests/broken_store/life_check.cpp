/// Lives whole lives of a board on the store that this program was linked with. Status 0: a wrong life was found, as it
/// must be where the store is broken; 1: none was. With the store as it is, all lives end well (tests/sim).

#include <iostream>

#include "tools/board/board_info.hpp"
#include "tools/sim/life.hpp"

using namespace thimble;

int main() {
  constexpr int kLives = 40;
  const std::string names = kGeneratedNames;
  const auto text = std::as_bytes(std::span(names));
  SessionOptions session_options;
  session_options.extent = {1, 16};
  Session<float> session(find_model("microgpt"), session_options);
  LifeOptions options;
  options.steps = 30;
  options.save_every = 4;
  options.flash = {64, 4096, 4};
  const LifeResult quiet = live(session, text, TextKind::documents, options, 1, {});
  if (quiet.outcome != Outcome::finished) {
    std::cout << "without faults: " << quiet.reason << "\n";
    return 0;
  }
  options.faults.power_cuts = 5;
  options.faults.flash_cuts = 0.5;
  for (int seed = 1; seed <= kLives; ++seed) {
    const LifeResult r = live(session, text, TextKind::documents, options, std::uint64_t(seed), quiet.digest);
    if (r.outcome != Outcome::wrong) continue;
    std::cout << "seed " << seed << ": " << r.reason << "\n";
    return 0;
  }
  std::cout << kLives << " lives ended well\n";
  return 1;
}
