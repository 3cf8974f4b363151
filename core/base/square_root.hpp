#pragma once
/// The correctly rounded square root: by an instruction where the processor has one, in integer arithmetic elsewhere and
/// in constant expressions.

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace thimble {

/// The unsigned integer that holds the bits of a `real`.
template <class real>
using BitsOf = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;

namespace detail {

/// Has the processor that the unit is compiled for an instruction for it?
template <class real>
inline constexpr bool kHasSquareRoot =
#if defined(__SSE2__) || defined(__aarch64__) || defined(__wasm__)
    true;
#elif defined(__ARM_FP)
    (__ARM_FP & sizeof(real)) != 0;
#elif defined(__riscv_flen)
    __riscv_flen >= 8 * sizeof(real);
#else
    false;
#endif

/// The square root, correctly rounded: its binary digits one after another, and one more to round by.
template <class real>
constexpr real square_root_in_software(real x) {
  constexpr int digits = std::numeric_limits<real>::digits;
  constexpr int bias = std::numeric_limits<real>::max_exponent - 1;
  using Bits = BitsOf<real>;
  if (!(x > 0) || x == std::numeric_limits<real>::infinity()) {
    return x < 0 ? std::numeric_limits<real>::quiet_NaN() : x;
  }
  const Bits bits = std::bit_cast<Bits>(x);
  int exponent = int(bits >> (digits - 1)) - bias;
  std::uint64_t mantissa = bits & ((Bits(1) << (digits - 1)) - 1);
  if (exponent == -bias) {
    const int shift = std::countl_zero(mantissa) - (64 - digits);
    mantissa <<= shift;
    exponent = 1 - bias - shift;
  } else {
    mantissa |= std::uint64_t(1) << (digits - 1);
  }
  // Pairs of radicand digits come down one by one; the first holds the one or two before the binary point.
  std::uint64_t radicand = mantissa << (63 - digits + (exponent & 1));
  std::uint64_t root = 0, rest = 0;
  for (int i = 0; i <= digits; ++i) {
    rest = rest << 2 | radicand >> 62;
    radicand <<= 2;
    root <<= 1;
    if (rest > 2 * root) {
      rest -= 2 * root + 1;
      root += 1;
    }
  }
  const int half_exponent = (exponent - (exponent & 1)) / 2;
  const Bits kept =
      Bits(root >> 1) + Bits(root & 1);  // never a tie: a root of digits + 1 digits is not exact
  return std::bit_cast<real>((Bits(half_exponent + bias - 1) << (digits - 1)) + kept);
}

}  // namespace detail

/// Square root, correctly rounded; NaN for a negative number.
template <std::floating_point real>
[[gnu::always_inline]] constexpr real square_root(real x) {
  if constexpr (detail::kHasSquareRoot<real>) {
    if (!std::is_constant_evaluated()) {
      if constexpr (sizeof(real) == 4) {
        return __builtin_sqrtf(x);
      } else {
        return __builtin_sqrt(x);
      }
    }
  }
  return detail::square_root_in_software(x);
}

}  // namespace thimble
