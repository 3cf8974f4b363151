#pragma once
/// exp, log, tanh and erf of native vectors and of sixteen lanes, for float and double. They are built of + -
/// * /, mul_add, selections and the bits of exponents alone, so every instruction set computes the same bits;
/// the two profiles differ, for mul_add rounds once or twice.
///
/// Errors stay below 1.0 units in the last place of the exact result in the fused profile and below 1.3 in the
/// separate one, for all four functions in float and double, over the whole range with subnormal arguments and
/// results (tests/simd). NaN gives NaN; infinities and signed zeros go where
/// C's functions send them. There are no branches: where a function has two ranges, both are computed and one
/// is taken.

#include <utility>

#include "core/simd/arm.hpp"
#include "core/simd/coefficients.hpp"
#include "core/simd/lanes.hpp"

namespace thimble {

/// x between low and high; a NaN stays: it is the second operand, which minimum and maximum then return.
template <class real, class Arch>
THIMBLE_INLINE Vec<real, Arch> clamped(Vec<real, Arch> x, real low, real high) {
  using Vec = thimble::Vec<real, Arch>;
  return maximum(Vec::broadcast(low), minimum(Vec::broadcast(high), x));
}

namespace detail {

/// The polynomial with coefficients c, lowest degree first, by Horner's rule. (Its callers are chains of a
/// dozen dependent operations, but independent vectors overlap in the processor; fewer operations win.)
template <class Vec, std::size_t n>
THIMBLE_INLINE Vec polynomial(const typename Vec::Real (&c)[n], Vec x) {
  Vec sum = Vec::broadcast(c[n - 1]);
  [&]<std::size_t... k>(std::index_sequence<k...>) THIMBLE_INLINE_LAMBDA {
    ((sum = mul_add(sum, x, Vec::broadcast(c[n - 2 - k]))), ...);
  }
  (std::make_index_sequence<n - 1>{});
  return sum;
}

/// exp(x) = m 2^n with an integral n; t is n + round_magic.
template <class Vec>
struct ExpParts {
  Vec m;
  Vec n;
  Vec t;
};

template <class Vec>
THIMBLE_INLINE ExpParts<Vec> exp_parts(Vec x) {
  using real = typename Vec::Real;
  using C = Coefficients<real>;
  const Vec one = Vec::broadcast(1);
  const Vec magic = Vec::broadcast(FloatLayout<real>::round_magic);
  const Vec t = mul_add(x, Vec::broadcast(real(1.44269504088896340736)), magic);
  const Vec n = t - magic;
  Vec r = mul_add(n, Vec::broadcast(-C::ln2_high), x);
  r = mul_add(n, Vec::broadcast(-C::ln2_low), r);
  return {mul_add(mul_add(polynomial(C::exp, r), r, one), r, one), n, t};
}

/// exp(x) where the result is a normal number.
template <class Vec>
THIMBLE_INLINE Vec exp_normal(Vec x) {
  const auto [m, n, t] = exp_parts(x);
  return m * pow2(n);
}

/// Where exp overflows and where it rounds to zero, with a margin.
template <class real>
inline constexpr real kExpHigh = sizeof(real) == 4 ? real(88.9) : real(709.9);
template <class real>
inline constexpr real kExpLow = sizeof(real) == 4 ? real(-104) : real(-745.5);

template <class Vec>
THIMBLE_INLINE Vec exp_anywhere(Vec x) {
  using real = typename Vec::Real;
  x = clamped(x, kExpLow<real>, kExpHigh<real>);
  const auto [m, n, t] = exp_parts(x);
  return scale(m, n);
}

/// Lanes that can be asked for a property that all of them have, which then saves work.
template <class Vec>
concept Branching = requires(Vec x, typename Vec::Real bound) {
  Vec::are_within(x, bound);
};

/// Called, for the size of the code.
template <Branching Vec>
[[gnu::noinline]] Vec branching_exp(Vec x) {
  if (!Vec::are_within(x, kExpNormal<typename Vec::Real>)) [[unlikely]] {
    for (auto& lane : x.lane) lane = exp_anywhere(Vec::broadcast(lane)).lane[0];
    return x;
  }
  const auto [m, n, t] = exp_parts(x);
  return Vec::scaled(m, t);
}

}  // namespace detail

/// e^x.
template <class real, class Arch>
THIMBLE_INLINE Vec<real, Arch> exp(Vec<real, Arch> x) {
  if constexpr (detail::Branching<Vec<real, Arch>>) {
    return detail::branching_exp(x);
  } else {
    return detail::exp_anywhere(x);
  }
}

#if THIMBLE_ARM_FPU
namespace detail {

/// x = e^(x - shift[i]) factor[i] for `count` rows of eight numbers i, `step` numbers apart; factor may be null.
inline void exp_rows(float* x, std::ptrdiff_t step, std::ptrdiff_t count, const float* shift, const float* factor) {
  using Vec = thimble::Vec<float, Plain<Profile::fused>>;
  while (count > 0) {
    const std::ptrdiff_t left = arm_exp_rows(x, step * std::ptrdiff_t(sizeof(float)), std::int32_t(count), shift, factor);
    if (left == 0) return;
    x += (count - left) * step;
    for (int i = 0; i < 8; i += Vec::width) {
      const Vec e = branching_exp(Vec::load(x + i) - Vec::load(shift + i));
      (factor == nullptr ? e : e * Vec::load(factor + i)).store(x + i);
    }
    x += step;
    count = left - 1;
  }
}

}  // namespace detail
#endif

/// The natural logarithm: minus infinity of zeros, NaN of negative numbers.
/// With x = 2^e (1 + f) and s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)).
template <class real, class Arch>
THIMBLE_INLINE Vec<real, Arch> log(Vec<real, Arch> x) {
  using Vec = thimble::Vec<real, Arch>;
  using C = detail::Coefficients<real>;
  using Limits = std::numeric_limits<real>;
  const Vec zero = Vec::broadcast(0);
  const auto subnormal = x < Vec::broadcast(Limits::min());
  const Vec normal = select(subnormal, x * Vec::broadcast(FloatLayout<real>::unit), x);
  const Vec shift = select(subnormal, Vec::broadcast(FloatLayout<real>::mantissa_bits), zero);
  const Vec e = exponent_of(normal) - shift;
  const Vec f = mantissa_of(normal) - Vec::broadcast(1);

  const Vec s = f / (f + Vec::broadcast(2));
  const Vec z = s * s;
  const Vec half_square = f * f * Vec::broadcast(real(0.5));
  const Vec rest = mul_add(detail::polynomial(C::log, z), z, half_square);
  const Vec low = mul_add(s, rest, e * Vec::broadcast(C::ln2_low));
  const Vec result = mul_add(e, Vec::broadcast(C::ln2_high), f - (half_square - low));

  const Vec not_positive =
      select(x < zero, Vec::broadcast(Limits::quiet_NaN()), Vec::broadcast(-Limits::infinity()));
  return select(x <= zero, not_positive, select(x < Vec::broadcast(Limits::infinity()), result, x));
}

/// The hyperbolic tangent: an odd polynomial below 1, 1 - 2 / (e^2x + 1) from there on.
template <class real, class Arch>
THIMBLE_INLINE Vec<real, Arch> tanh(Vec<real, Arch> x) {
  using Vec = thimble::Vec<real, Arch>;
  using C = detail::Coefficients<real>;
  constexpr real saturated = sizeof(real) == 4 ? real(10) : real(20);
  const Vec one = Vec::broadcast(1);
  const Vec y = absolute(x);
  const Vec z = y * y;
  const Vec small = mul_add(y * z, detail::polynomial(C::tanh, z), y);
  const Vec capped = minimum(Vec::broadcast(saturated), y);
  const Vec large = one - Vec::broadcast(2) / (detail::exp_normal(capped + capped) + one);
  return copy_sign(select(y < one, small, large), x);
}

/// The error function: an odd polynomial below 1, 1 - exp(ln(erfc(x))) with a polynomial for the logarithm
/// from there on.
template <class real, class Arch>
THIMBLE_INLINE Vec<real, Arch> erf(Vec<real, Arch> x) {
  using Vec = thimble::Vec<real, Arch>;
  using C = detail::Coefficients<real>;
  constexpr real saturated = sizeof(real) == 4 ? real(4) : real(6);
  const Vec one = Vec::broadcast(1);
  const Vec y = absolute(x);
  const Vec small = mul_add(y, detail::polynomial(C::erf, y * y), y);
  const Vec t = minimum(Vec::broadcast(saturated), y) - one;
  const Vec large = one - detail::exp_normal(detail::polynomial(C::erfc, t));
  return copy_sign(select(y < one, small, large), x);
}

/// The functions of sixteen lanes.
template <class S>
THIMBLE_INLINE Lanes<S> exp(Lanes<S> x) {
  return map(x, [](auto v) THIMBLE_INLINE_LAMBDA { return exp(v); });
}
template <class S>
THIMBLE_INLINE Lanes<S> log(Lanes<S> x) {
  return map(x, [](auto v) THIMBLE_INLINE_LAMBDA { return log(v); });
}
template <class S>
THIMBLE_INLINE Lanes<S> tanh(Lanes<S> x) {
  return map(x, [](auto v) THIMBLE_INLINE_LAMBDA { return tanh(v); });
}
template <class S>
THIMBLE_INLINE Lanes<S> erf(Lanes<S> x) {
  return map(x, [](auto v) THIMBLE_INLINE_LAMBDA { return erf(v); });
}

}  // namespace thimble
