#pragma once
/// How deep the stack has been: it is painted at reset, and what has lost its paint has been in use.

#include <cstdint>

namespace thimble {

/// Paints all of the stack below its caller.
void paint_stack();
/// The most bytes of stack that have been in use since.
std::uint32_t stack_high_water();

}  // namespace thimble
