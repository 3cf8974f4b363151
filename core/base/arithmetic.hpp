#pragma once
/// The version of the arithmetic: raised with every change that alters the bits of a training step.

#include <cstdint>

namespace thimble {

inline constexpr std::uint32_t kArithmeticVersion = 1;

}  // namespace thimble
