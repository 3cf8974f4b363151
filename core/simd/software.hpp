#pragma once
/// fma for processors without the instruction and for constant expressions. C libraries are no substitute: newlib's
/// rounds twice.

#include <bit>
#include <cstdint>
#include <utility>

#include "core/simd/arch.hpp"

namespace thimble::detail {

/// An unsigned number of 128 bits.
struct Wide {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr bool operator==(Wide, Wide) = default;
  friend constexpr bool operator<(Wide a, Wide b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
  friend constexpr Wide operator+(Wide a, Wide b) {
    const std::uint64_t low = a.low + b.low;
    return {a.high + b.high + (low < a.low), low};
  }
  friend constexpr Wide operator-(Wide a, Wide b) {
    return {a.high - b.high - (a.low < b.low), a.low - b.low};
  }
  friend constexpr Wide operator<<(Wide a, int n) {
    if (n == 0) return a;
    if (n >= 64) return {a.low << (n - 64), 0};
    return {a.high << n | a.low >> (64 - n), a.low << n};
  }
  constexpr int leading_zeros() const {
    return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
  }
  /// Shifted right by n >= 0; the lowest bit is set if any bit was lost.
  constexpr Wide shifted_right_sticky(int n) const {
    if (n == 0) return *this;
    if (n >= 128) return {0, (high | low) != 0};
    if (n >= 64) {
      const bool lost = low != 0 || (n > 64 && high << (128 - n) != 0);
      return {0, (n == 64 ? high : high >> (n - 64)) | lost};
    }
    return {high >> n, high << (64 - n) | low >> n | (low << (64 - n) != 0)};
  }
};

constexpr Wide product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t mask = 0xFFFFFFFF;
  const std::uint64_t low = (a & mask) * (b & mask);
  const std::uint64_t middle = (a >> 32) * (b & mask) + (low >> 32);
  const std::uint64_t other = (a & mask) * (b >> 32) + (middle & mask);
  return {(a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32), other << 32 | (low & mask)};
}

/// A finite double that is not zero: (-1)^negative mantissa 2^exponent with 2^52 <= mantissa < 2^53.
struct Unpacked {
  bool negative;
  int exponent;
  std::uint64_t mantissa;
};

constexpr Unpacked unpack(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int biased = int(bits >> 52 & 0x7FF);
  std::uint64_t mantissa = bits & 0xFFFFFFFFFFFFF;
  if (biased != 0) return {bits >> 63 != 0, biased - 1075, mantissa | 1ull << 52};
  const int shift = std::countl_zero(mantissa) - 11;
  return {bits >> 63 != 0, -1074 - shift, mantissa << shift};
}

/// (-1)^negative m 2^exponent, rounded to nearest, ties to even; the lowest bit of m may stand for all below
/// it.
constexpr double rounded_to_double(bool negative, Wide m, int exponent) {
  const int shift = m.leading_zeros();
  const int biased = exponent - shift + 127 + 1023;
  const std::uint64_t sign = std::uint64_t(negative) << 63;
  if (biased >= 0x7FF) return std::bit_cast<double>(sign | 0x7FFull << 52);
  const Wide top = (m << shift).shifted_right_sticky(biased < 1 ? 1 - biased : 0);
  const std::uint64_t digits = top.high | (top.low != 0);  // 53 of them (fewer, if subnormal) remain
  const std::uint64_t rest = digits & 0x7FF;
  std::uint64_t kept = digits >> 11;
  if (rest > 0x400 || (rest == 0x400 && kept % 2 == 1)) ++kept;
  // The leading bit of a normal number adds itself to the exponent field, and so does a carry.
  const std::uint64_t field = biased < 1 ? 0 : std::uint64_t(biased - 1) << 52;
  return std::bit_cast<double>(sign | (field + kept));
}

/// a b + c of finite doubles in integer arithmetic, rounded once.
[[gnu::noinline]] constexpr double fused_in_integers(double a, double b, double c) {
  const Unpacked x = unpack(a), y = unpack(b), z = unpack(c);
  Wide big = product(x.mantissa << 10, y.mantissa << 10);  // the leading one is bit 124 or 125
  int exponent = x.exponent + y.exponent - 20;
  Wide small = Wide{0, z.mantissa} << 73;  // the leading one is bit 125
  int small_exponent = z.exponent - 73;
  bool negative = x.negative != y.negative;
  bool small_negative = z.negative;
  if (small_exponent > exponent) {
    std::swap(big, small);
    std::swap(exponent, small_exponent);
    std::swap(negative, small_negative);
  }
  small = small.shifted_right_sticky(exponent - small_exponent);
  if (negative == small_negative) return rounded_to_double(negative, big + small, exponent);
  if (big == small) return 0;
  if (small < big) return rounded_to_double(negative, big - small, exponent);
  return rounded_to_double(small_negative, small - big, exponent);
}

/// A sum that was rounded to nearest with an error (exact minus rounded), made "round to odd": the neighbour
/// on the side of the exact value, unless the sum is exact or its last bit is one. Rounding that to a shorter
/// number, or adding it to a longer one, then rounds as the exact sum would (Boldo and Melquiond, 2008).
constexpr double to_odd(double sum, double error) {
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  const std::uint64_t moves = std::uint64_t(error != 0) & ~bits & 1;
  const std::uint64_t away_from_zero = (error > 0) == (sum > 0);
  return std::bit_cast<double>(bits + moves * (2 * away_from_zero - 1));
}

/// A double and the error of its rounding: head + tail is exact.
struct Exact {
  double head;
  double tail;
};

/// Knuth's two-sum.
constexpr Exact exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// Veltkamp's splitting into two halves of at most 26 bits.
constexpr Exact halves(double x) {
  const double scaled = x * 134217729.0;  // 2^27 + 1
  const double head = scaled - (scaled - x);
  return {head, x - head};
}

/// Dekker's product; exact if nothing overflows or becomes subnormal.
constexpr Exact exact_product(double a, double b) {
  const Exact x = halves(a), y = halves(b);
  const double p = a * b;
  return {p, x.tail * y.tail - (((p - x.head * y.head) - x.tail * y.head) - x.head * y.tail)};
}

/// a b + c of doubles, rounded once: by exact products and sums in the middle of the range, in integers
/// beyond.
constexpr double fused_in_software(double a, double b, double c) {
  const auto biased = [](double x) { return unsigned(std::bit_cast<std::uint64_t>(x) >> 52) & 0x7FF; };
  if (biased(a) - 573 < 900 && biased(b) - 573 < 900 && biased(c) < 2000) {
    const Exact u = exact_product(a, b);
    const Exact t = exact_sum(c, u.tail);
    const Exact v = exact_sum(u.head, t.head);
    const Exact z = exact_sum(t.tail, v.tail);
    return v.head + to_odd(z.head, z.tail);
  }
  if (biased(a) == 0x7FF || biased(b) == 0x7FF || a == 0 || b == 0) return a * b + c;
  if (biased(c) == 0x7FF) return c;
  if (c == 0) return a * b;
  return fused_in_integers(a, b, c);
}

/// a + b rounded to float, once.
[[gnu::noinline]] constexpr float sum_rounded_to_float(double a, double b) {
  const Exact sum = exact_sum(a, b);
  return float(to_odd(sum.head, sum.tail));
}

/// a b + c of floats, rounded once. The product is exact in double, and so is, most of the time, the rounding
/// of the sum to float by way of double; the exceptions lie halfway between two floats, or are subnormal.
constexpr float fused_in_software(float a, float b, float c) {
  const double product = double(a) * double(b);
  const double sum = product + double(c);
  const bool halfway = (std::bit_cast<std::uint64_t>(sum) & 0x1FFFFFFF) == 0x10000000;
  const bool subnormal = sum < 0x1p-126 && sum > -0x1p-126;
  return halfway || subnormal ? sum_rounded_to_float(product, c) : float(sum);
}

}  // namespace thimble::detail
