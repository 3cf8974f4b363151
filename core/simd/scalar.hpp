#pragma once
/// Scalar building blocks shared by every implementation of the lanes: the bits of a float, and a
/// multiply-add that rounds once even where the processor has no such instruction.

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/simd/arch.hpp"

namespace thimble {

/// The unsigned integer that holds the bits of a `real`.
template <class real>
using BitsOf = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;

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

  /// For `scale`: an exponent below this is taken to a normal number first and scaled down by the last
  /// product.
  static constexpr real tiny_exponent = -bias + 3;
  static constexpr real scale_up = mantissa_bits + 8;
  static constexpr real scale_down = real(1) / real(BitsOf<real>(1) << (mantissa_bits + 8));

  /// 2^n for an integral n of a normal result.
  THIMBLE_INLINE static constexpr real pow2(real n) {
    return std::bit_cast<real>(std::bit_cast<BitsOf<real>>(n + (round_magic + bias)) << mantissa_bits);
  }
};

namespace detail {

/// float fma without an fma instruction. The product is exact in double; the sum is made "round to odd"
/// there, so that the final rounding to float is the only one that counts (Boldo and Melquiond, 2008).
THIMBLE_INLINE constexpr float fused_in_software(float a, float b, float c) {
  const double product = double(a) * double(b);
  const double addend = c;
  double sum = product + addend;
  const double addend_part = sum - product;
  const double error = (product - (sum - addend_part)) + (addend - addend_part);  // Knuth's exact two-sum
  auto bits = std::bit_cast<std::uint64_t>(sum);
  const bool finite = ((bits >> 52) & 0x7FF) != 0x7FF;
  if (finite && error != 0 && (bits & 1) == 0) {
    const bool away_from_zero = (error > 0) == (sum > 0);
    bits += away_from_zero ? 1 : std::uint64_t(-1);
    sum = std::bit_cast<double>(bits);
  }
  return float(sum);
}

}  // namespace detail

/// a * b + c with the roundings of profile P.
template <Profile P, std::floating_point real>
THIMBLE_INLINE constexpr real mul_add(real a, real b, real c) {
  if constexpr (P == Profile::separate) {
    const real product = a * b;
    return product + c;
  } else {
#if !defined(__FP_FAST_FMAF) && !defined(__FP_FAST_FMA) && !defined(__FMA__)
    if constexpr (sizeof(real) == 4) return detail::fused_in_software(a, b, c);
#endif
    if constexpr (sizeof(real) == 4) {
      return __builtin_fmaf(a, b, c);
    } else {
      return __builtin_fma(a, b, c);
    }
  }
}

/// Square root, correctly rounded.
template <std::floating_point real>
THIMBLE_INLINE real square_root(real x) {
  if constexpr (sizeof(real) == 4) {
    return __builtin_sqrtf(x);
  } else {
    return __builtin_sqrt(x);
  }
}

}  // namespace thimble
