#pragma once
/// Refuses builds whose floating-point arithmetic is not the one thimble's bits are defined in:
/// IEEE-754 binary32/binary64, round to nearest, subnormals kept, no contraction or reassociation.

#if defined(__FAST_MATH__)
#error "thimble: -ffast-math (or -Ofast) changes the bits of every sum; remove it from the flags"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "thimble: -ffinite-math-only drops the NaN and infinity checks; remove it from the flags"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "thimble: excess precision changes the bits; on 32-bit x86 build with -msse2 -mfpmath=sse"
#endif

#include <limits>

namespace thimble {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559,
              "thimble needs IEEE-754 float and double");

}  // namespace thimble
