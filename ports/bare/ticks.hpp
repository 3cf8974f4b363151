#pragma once
/// The clock of an emulated board: instructions executed since reset, under `-icount shift=0`.

#include <cstdint>

namespace thimble {

std::uint64_t ticks();

}  // namespace thimble
