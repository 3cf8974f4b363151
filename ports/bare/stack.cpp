#include "ports/bare/stack.hpp"

#include "ports/bare/image_memory.hpp"

namespace thimble {

namespace {
constexpr std::uint32_t kPaint = 0xC0A7C0A7;
}

[[gnu::noinline]] void paint_stack() {
  auto* const here = static_cast<std::uint32_t*>(__builtin_frame_address(0));
  constexpr int kOwnWords = 16;  // this function's frame
  for (std::uint32_t* p = thimble_stack_limit; p < here - kOwnWords; ++p) *p = kPaint;
}

std::uint32_t stack_high_water() {
  const std::uint32_t* p = thimble_stack_limit;
  while (p < thimble_stack_top && *p == kPaint) ++p;
  return std::uint32_t(thimble_stack_top - p) * 4;
}

}  // namespace thimble
