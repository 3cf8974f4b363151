/// Any bytes in the flash, then saves with cuts wherever the input says: recovery takes a whole checkpoint or none, and
/// what a save committed is there until a later one is.

#include <algorithm>
#include <cstdlib>

#include "core/checkpoint/store.hpp"
#include "ports/sim/flash.hpp"
#include "tests/checkpoint/tiny_run.hpp"

using namespace thimble_test;

namespace {

constexpr FlashGeometry kGeometry{9, 8192, 8};

/// The input, byte by byte; zeros after its end.
struct Input {
  std::span<const std::uint8_t> rest;
  std::uint8_t next() {
    if (rest.empty()) return 0;
    const std::uint8_t b = rest.front();
    rest = rest.subspan(1);
    return b;
  }
};

void require(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in{{data, size}};
  const int slots = 2 + in.next() % 2;
  const int actions = in.next() % 8;
  SimFlash flash(kGeometry, in.next());
  static TinyRun<float> run(3);
  run.machine().initialise(3);
  run.state.data_cursor = 0;
  CheckpointStore store(flash.flash(), slots);
  std::int64_t committed = -1;
  for (int i = 0; i < actions; ++i) {
    run.state.data_cursor = std::uint64_t(i) + 1;
    if (in.next() % 2 != 0) flash.cut_power_after(in.next());
    store.recover();
    const Fault fault =
        store.save([&](CheckpointWriter& w) { return write_training(w, run.machine(), run.state); });
    if (!fault) committed = i + 1;
    if (!fault && flash.powered() && in.next() % 4 != 0) continue;
    flash.power_on();
    store = CheckpointStore(flash.flash(), slots);
    store.recover();
    require(committed < 0 || store.holds());
    if (!store.holds()) continue;
    require(!load_training(run.machine(), store.source(), run.state, LoadWhat::everything, AfterCommit::anything));
    const auto got = std::int64_t(run.state.data_cursor);
    require(got == committed || (fault && got == i + 1));
    committed = got;
  }
  require(flash.violations() == 0);
  // Whatever else is in the flash: no crash, and what is taken is whole.
  const std::size_t at = in.next() * std::size_t(256) + in.next();
  std::copy_n(reinterpret_cast<const std::byte*>(in.rest.data()),
              std::min(in.rest.size(), flash.bytes().size() - at % flash.bytes().size()),
              flash.bytes().begin() + std::ptrdiff_t(at % flash.bytes().size()));
  store = CheckpointStore(flash.flash(), slots);
  store.recover();
  if (store.holds()) {
    require(!load_training(run.machine(), store.source(), run.state, LoadWhat::everything, AfterCommit::anything) ||
            committed < 0);
  }
  return 0;
}
