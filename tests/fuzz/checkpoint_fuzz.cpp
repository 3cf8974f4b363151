/// Any bytes as a checkpoint: the reader takes them or names a fault, and an engine's weights change only with a whole
/// one. As they are, every mutant dies at its CRC; so the CRCs and the commit are mended first in half of the inputs.

#include <cstdlib>

#include "tests/checkpoint/mend.hpp"
#include "tests/checkpoint/tiny_run.hpp"

using namespace thimble_test;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  Bytes bytes(first + 1, first + size);
  if (data[0] % 2 != 0) mend_crcs(bytes);
  static TinyRun<float> run(3);
  const std::uint64_t before = run.digest();
  const TrainingState state = run.state;
  const Fault fault = run.load(bytes);
  if (fault && (run.digest() != before || run.state.data_cursor != state.data_cursor)) std::abort();
  if (fault && fault.offset > bytes.size()) std::abort();
  if (!fault) {
    run.go_on();
    run.machine().initialise(3);
    run.state = state;
  }
  return 0;
}
