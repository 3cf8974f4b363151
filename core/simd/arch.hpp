#pragma once
/// The instruction sets and arithmetic profiles that kernels are instantiated for. A kernel takes one of
/// these as part of its type, so that code compiled for different processors never shares a symbol.

#include <cstdint>

#include "core/base/build_gate.hpp"

/// Inlined everywhere: a helper that is not a template over the instruction set must never be emitted on its
/// own, or the linker may keep the copy that only the newest processor can run.
#define THIMBLE_INLINE [[gnu::always_inline]] inline
/// The same for a lambda: `[&](int i) THIMBLE_INLINE_LAMBDA { ... }`.
#define THIMBLE_INLINE_LAMBDA __attribute__((always_inline))

namespace thimble {

/// How a product is added to a sum. `fused`: one rounding (fma). `separate`: the product is rounded, then the
/// sum. Results are bit-equal within a profile, on every instruction set.
enum class Profile : std::uint8_t { fused, separate };

/// Plain C++: runs anywhere, and defines the bits.
template <Profile P>
struct Plain {
  static constexpr Profile profile = P;
};

/// xsimd batches with 256-bit registers and FMA.
struct Avx2 {
  static constexpr Profile profile = Profile::fused;
};

/// xsimd batches with 512-bit registers.
struct Avx512 {
  static constexpr Profile profile = Profile::fused;
};

}  // namespace thimble
