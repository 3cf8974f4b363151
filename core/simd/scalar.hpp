#pragma once
/// Scalar building blocks shared by every implementation of the lanes: the layout of a float, and a multiply-add that
/// rounds once, by an instruction where the processor has one and in software elsewhere.

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/square_root.hpp"
#include "core/simd/software.hpp"

namespace thimble {

/// Layout of a binary32 or binary64 number.
template <std::floating_point real>
struct FloatLayout {
  static constexpr int mantissa_bits = std::numeric_limits<real>::digits - 1;
  static constexpr int bias = std::numeric_limits<real>::max_exponent - 1;
  /// Adding and subtracting this rounds |x| < 2^(mantissa_bits - 1) to the nearest integer, ties to even.
  static constexpr real round_magic = real(3) * real(BitsOf<real>(1) << (mantissa_bits - 1));

  /// For `exponent_of` and `mantissa_of`: adding `to_one` to the bits takes sqrt(1/2) to 1.
  static constexpr BitsOf<real> root_half_bits = std::bit_cast<BitsOf<real>>(real(0.70710678118654752440));
  static constexpr BitsOf<real> to_one = std::bit_cast<BitsOf<real>>(real(1)) - root_half_bits;
  static constexpr BitsOf<real> mantissa_mask = (BitsOf<real>(1) << mantissa_bits) - 1;
  static constexpr real unit = real(BitsOf<real>(1) << mantissa_bits);
  static constexpr BitsOf<real> unit_bits = std::bit_cast<BitsOf<real>>(unit);

  /// For `scale`: an exponent below this is taken to a normal number first and scaled down by the last product.
  static constexpr real tiny_exponent = -bias + 3;
  static constexpr real scale_up = mantissa_bits + 8;
  static constexpr real scale_down = real(1) / real(BitsOf<real>(1) << (mantissa_bits + 8));

  /// 2^n for an integral n of a normal result.
  THIMBLE_INLINE static constexpr real pow2(real n) {
    return std::bit_cast<real>(std::bit_cast<BitsOf<real>>(n + (round_magic + bias)) << mantissa_bits);
  }
};

/// A bound below which |x| makes e^x a normal number.
template <class real>
inline constexpr real kExpNormal = sizeof(real) == 4 ? real(87) : real(708);

namespace detail {

/// Has the processor that the unit is compiled for an instruction for it?
template <class real>
inline constexpr bool kHasFma =
#if defined(__FMA__) || defined(__aarch64__)
    true;
#elif defined(__FP_FAST_FMAF) && defined(__FP_FAST_FMA)
    true;
#elif defined(__FP_FAST_FMAF)
    sizeof(real) == 4;
#else
    false;
#endif

}  // namespace detail

/// a * b + c with the roundings of profile P.
template <Profile P, std::floating_point real>
THIMBLE_INLINE constexpr real mul_add(real a, real b, real c) {
  if constexpr (P == Profile::separate) {
    const real product = a * b;
    return product + c;
  } else {
    if constexpr (detail::kHasFma<real>) {
      if (!std::is_constant_evaluated()) {
        if constexpr (sizeof(real) == 4) {
          return __builtin_fmaf(a, b, c);
        } else {
          return __builtin_fma(a, b, c);
        }
      }
    }
    return detail::fused_in_software(a, b, c);
  }
}

}  // namespace thimble
