#pragma once
/// The whole life of a board in one process, from one seed: a host that configures a run and sees it through, a noisy
/// line, power cuts at any instant, flash that wears out, memory that holds anything after a reset.

#include <string>

#include "core/checkpoint/flash.hpp"
#include "ports/program/text_data.hpp"
#include "ports/sim/board.hpp"
#include "tools/model/session.hpp"
#include "tools/sim/costs.hpp"

namespace thimble {

/// What goes wrong in a life.
struct LifeFaults {
  LineFaults line;
  double power_cuts = 0;    ///< mean number in a life without other faults
  double flash_cuts = 0;    ///< part of the cuts that fall into a flash operation
  double broken_blocks = 0; ///< chance that the life's flash has a block that refuses to be erased

  bool noisy() const { return line.drop + line.flip + line.duplicate + line.burst > 0; }
  bool none() const { return !noisy() && power_cuts + broken_blocks == 0; }
};

struct LifeOptions {
  std::uint64_t steps = 40;
  std::uint32_t save_every = 5;
  bool data_from_host = false;
  Profile profile = Profile::fused;  ///< of the session's kernels
  FlashGeometry flash;
  LifeFaults faults;
  OpCosts costs;  ///< of the emulated board: virtual time
};

/// How a life ended. All but `wrong` are allowed.
enum class Outcome {
  finished,      ///< all steps done, the weights those of a life without faults
  flash_failed,  ///< the board said that no checkpoint can be kept: too many bad blocks
  unreachable,   ///< the host gave up: no answer over a noisy line
  worn_down,     ///< so many power cuts that the run came to no end
  wrong,         ///< anything else: other weights, or an error that nobody declared
};

const char* text_of(Outcome outcome);

struct LifeResult {
  Outcome outcome = Outcome::wrong;
  std::string reason;           ///< of everything but `finished`
  std::uint64_t digest = 0;
  int resets = 0;
  std::uint64_t repeated = 0;   ///< commands that were said again
  std::uint64_t damaged_bytes = 0;
  std::uint64_t violations = 0; ///< of the flash's contract
  std::int64_t most_erases = 0; ///< of one block
  double seconds = 0;           ///< virtual
};

/// Lives a life with the session's engine, on a text. `expected`: the digest that the run must end with; nothing in a
/// life that is to tell it.
LifeResult live(Session<float>& session, std::span<const std::byte> text, TextKind kind, const LifeOptions& options,
                std::uint64_t seed, std::optional<std::uint64_t> expected);

}  // namespace thimble
