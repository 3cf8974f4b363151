#pragma once
/// Functions of single doubles for what happens once a step or once a weight: schedules, initial numbers, sampling.
/// Built from + - * / alone, each rounded on its own, so that their bits depend on no profile, library or compiler, and
/// they may be used at compile time. Errors: see tests/base/scalar_math_test.cpp.

#include <bit>
#include <cstdint>
#include <limits>

#include "core/base/square_root.hpp"

namespace thimble {

namespace detail {

/// 2^n for a normal result.
constexpr double power_of_two(int n) { return std::bit_cast<double>(std::uint64_t(n + 1023) << 52); }

/// The nearest integer of |x| < 2^51, ties to even.
constexpr double nearest_integer(double x) {
  constexpr double magic = 0x1.8p52;
  return (x + magic) - magic;
}

/// c[0] + x (c[1] + x (c[2] + ...)).
template <int n>
constexpr double polynomial(double x, const double (&c)[n]) {
  double sum = c[n - 1];
  for (int i = n - 2; i >= 0; --i) sum = c[i] + x * sum;
  return sum;
}

}  // namespace detail

/// Square root, correctly rounded; NaN for a negative number.
constexpr double scalar_sqrt(double x) { return square_root(x); }

/// e^x: 2^n e^r with |r| <= ln 2 / 2, e^r by its series.
constexpr double scalar_exp(double x) {
  if (x != x) return x;
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  constexpr double ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
  const double n = detail::nearest_integer(x * 1.4426950408889634);
  const double r = (x - n * ln2_high) - n * ln2_low;
  constexpr double c[] = {1,           1,           1.0 / 2,       1.0 / 6,        1.0 / 24,
                          1.0 / 120,   1.0 / 720,   1.0 / 5040,    1.0 / 40320,    1.0 / 362880,
                          1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  const double power = detail::polynomial(r, c);
  const int half = int(n) / 2;  // two factors, for subnormal results and the largest ones
  return power * detail::power_of_two(half) * detail::power_of_two(int(n) - half);
}

/// The natural logarithm: x = 2^e m with m about 1, ln m = 2 artanh((m - 1) / (m + 1)) by its series.
constexpr double scalar_log(double x) {
  if (x != x || x == std::numeric_limits<double>::infinity()) return x;
  if (x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  int e = 0;
  if (x < 0x1p-1022) x *= 0x1p54, e = -54;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  e += int(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
  if (m > 1.4142135623730951) m *= 0.5, ++e;
  const double s = (m - 1) / (m + 1), s2 = s * s;
  constexpr double c[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                          1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
  constexpr double ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
  // 2 s = (m - 1) - (m - 1) s: the leading term without the quotient's rounding.
  const double f = m - 1;
  const double correction = s * (2 * s2 * detail::polynomial(s2, c) - f);
  return double(e) * ln2_high + (f + (correction + double(e) * ln2_low));
}

namespace detail {

struct ReducedAngle {
  double rest;   ///< in [-pi/4, pi/4]
  int quadrant;  ///< 0..3
};

/// x - k pi/2, with pi/2 in three parts whose products with k are exact for |x| < 1e6.
constexpr ReducedAngle reduced_angle(double x) {
  constexpr double high = 0x1.921fb54400000p+0, middle = 0x1.0b4611a600000p-34, low = 0x1.3198a2e037073p-69;
  const double k = nearest_integer(x * 0.6366197723675814);
  return {((x - k * high) - k * middle) - k * low, int(std::int64_t(k) & 3)};
}

constexpr double sine_of_small(double r) {
  constexpr double c[] = {-1.0 / 6,          1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
                          -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
  return r + r * (r * r * polynomial(r * r, c));
}

constexpr double cosine_of_small(double r) {
  constexpr double c[] = {1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
                          1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
  const double z = r * r;
  return 1 - (0.5 * z - z * (z * polynomial(z, c)));
}

}  // namespace detail

/// Sine of |x| < 1e6.
constexpr double scalar_sin(double x) {
  const detail::ReducedAngle a = detail::reduced_angle(x);
  const double value = a.quadrant & 1 ? detail::cosine_of_small(a.rest) : detail::sine_of_small(a.rest);
  return a.quadrant & 2 ? -value : value;
}

/// Cosine of |x| < 1e6.
constexpr double scalar_cos(double x) {
  const detail::ReducedAngle a = detail::reduced_angle(x);
  const double value = a.quadrant & 1 ? detail::sine_of_small(a.rest) : detail::cosine_of_small(a.rest);
  return a.quadrant == 1 || a.quadrant == 2 ? -value : value;
}

}  // namespace thimble
