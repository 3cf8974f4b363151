#pragma once
/// Vec in plain C++: a short array and loops. Slow on some machines, right on all; it defines the bits.

#include "core/simd/scalar.hpp"

namespace thimble {

/// `width` consecutive numbers that one operation treats alike.
template <class real, class Arch>
struct Vec;

template <class real, Profile P>
struct Vec<real, Plain<P>> {
  using Real = real;
  static constexpr int width = 4;
  struct Mask {
    bool lane[width];
  };

  real lane[width];

  THIMBLE_INLINE static Vec broadcast(real x) {
    return each([&](int) THIMBLE_INLINE_LAMBDA { return x; });
  }
  THIMBLE_INLINE static Vec load(const real* p) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return p[i]; });
  }
  /// The first n numbers at p, zeros (or the lanes of `others`) behind them; reads nothing beyond. 0 <= n <=
  /// width.
  THIMBLE_INLINE static Vec load_first(const real* p, int n, Vec others = broadcast(0)) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return i < n ? p[i] : others.lane[i]; });
  }
  THIMBLE_INLINE void store(real* p) const {
    p[0] = lane[0];
    p[1] = lane[1];
    p[2] = lane[2];
    p[3] = lane[3];
  }
  THIMBLE_INLINE void store_first(real* p, int n) const {
    for (int i = 0; i < n; ++i) p[i] = lane[i];
  }
  /// The first n lanes, zeros behind them.
  THIMBLE_INLINE Vec first(int n) const {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return i < n ? lane[i] : real(0); });
  }

  THIMBLE_INLINE friend Vec operator+(Vec a, Vec b) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] + b.lane[i]; });
  }
  THIMBLE_INLINE friend Vec operator-(Vec a, Vec b) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] - b.lane[i]; });
  }
  THIMBLE_INLINE friend Vec operator*(Vec a, Vec b) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] * b.lane[i]; });
  }
  THIMBLE_INLINE friend Vec operator/(Vec a, Vec b) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] / b.lane[i]; });
  }
  THIMBLE_INLINE friend Vec operator-(Vec a) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return -a.lane[i]; });
  }
  THIMBLE_INLINE friend Vec mul_add(Vec a, Vec b, Vec c) {
    return each([&](int i)
                    THIMBLE_INLINE_LAMBDA { return thimble::mul_add<P>(a.lane[i], b.lane[i], c.lane[i]); });
  }
  THIMBLE_INLINE friend Vec square_root(Vec a) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return thimble::square_root(a.lane[i]); });
  }
  THIMBLE_INLINE friend Vec absolute(Vec a) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA {
      return std::bit_cast<real>(bits(a, i) & (~BitsOf<real>(0) >> 1));
    });
  }
  /// a > b ? a : b, so the second where either is NaN (the rule of x86).
  THIMBLE_INLINE friend Vec maximum(Vec a, Vec b) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  THIMBLE_INLINE friend Vec minimum(Vec a, Vec b) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }

  /// Are all |x| below a positive bound? Not where one is NaN, nor, perhaps, where several are close to it.
  /// Branches are cheaper here than selections, for which a processor without vectors goes from lane to lane.
  THIMBLE_INLINE static bool are_within(Vec x, real bound) {
    if constexpr (P == Profile::fused && detail::kHasFma<real>) {
      const real first = thimble::mul_add<P>(x.lane[1], x.lane[1], x.lane[0] * x.lane[0]);
      const real third = thimble::mul_add<P>(x.lane[2], x.lane[2], first);
      return thimble::mul_add<P>(x.lane[3], x.lane[3], third) < bound * bound;
    } else {
      const BitsOf<real> high = std::bit_cast<BitsOf<real>>(bound) << 1;
      return bits(x, 0) << 1 < high && bits(x, 1) << 1 < high && bits(x, 2) << 1 < high && bits(x, 3) << 1 < high;
    }
  }
  /// Is no |x| below a floor >= 0? A NaN is not.
  THIMBLE_INLINE static bool none_below(Vec x, real floor) {
    const BitsOf<real> low = std::bit_cast<BitsOf<real>>(floor) << 1;
    return bits(x, 0) << 1 >= low && bits(x, 1) << 1 >= low && bits(x, 2) << 1 >= low && bits(x, 3) << 1 >= low;
  }
  /// m 2^n, a normal number like m, for t = round_magic + n: n is added to the exponent.
  THIMBLE_INLINE static Vec scaled(Vec m, Vec t) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA {
      return std::bit_cast<real>(bits(m, i) + (bits(t, i) << FloatLayout<real>::mantissa_bits));
    });
  }

  THIMBLE_INLINE friend Mask operator<(Vec a, Vec b) {
    return test([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] < b.lane[i]; });
  }
  THIMBLE_INLINE friend Mask operator<=(Vec a, Vec b) {
    return test([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] <= b.lane[i]; });
  }
  THIMBLE_INLINE friend Mask is_nan(Vec a) {
    return test([&](int i) THIMBLE_INLINE_LAMBDA { return a.lane[i] != a.lane[i]; });
  }
  THIMBLE_INLINE friend Vec select(Mask m, Vec yes, Vec no) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return m.lane[i] ? yes.lane[i] : no.lane[i]; });
  }

  /// |x| with the sign of s.
  THIMBLE_INLINE friend Vec copy_sign(Vec x, Vec s) {
    constexpr BitsOf<real> sign = ~(~BitsOf<real>(0) >> 1);
    return each([&](int i) THIMBLE_INLINE_LAMBDA {
      return std::bit_cast<real>((bits(x, i) & ~sign) | (bits(s, i) & sign));
    });
  }
  /// 2^n for an integral n of a normal result.
  THIMBLE_INLINE friend Vec pow2(Vec n) {
    return each([&](int i) THIMBLE_INLINE_LAMBDA { return FloatLayout<real>::pow2(n.lane[i]); });
  }
  /// x 2^n rounded once, for 1/2 <= |x| <= 2 and an integral n between -bias - mantissa_bits - 3 and bias
  /// + 1.
  THIMBLE_INLINE friend Vec scale(Vec x, Vec n) {
    using F = FloatLayout<real>;
    return each([&](int i) THIMBLE_INLINE_LAMBDA {
      const bool tiny = n.lane[i] < F::tiny_exponent;
      return x.lane[i] * F::pow2(n.lane[i] + (tiny ? F::scale_up : real(-1))) *
             (tiny ? F::scale_down : real(2));
    });
  }
  /// The binary exponent e of a positive normal x = m 2^e with sqrt(1/2) <= m < sqrt(2).
  THIMBLE_INLINE friend Vec exponent_of(Vec x) {
    using F = FloatLayout<real>;
    return each([&](int i) THIMBLE_INLINE_LAMBDA {
      const BitsOf<real> biased = (bits(x, i) + F::to_one) >> F::mantissa_bits;
      return std::bit_cast<real>(biased | F::unit_bits) - (F::unit + F::bias);
    });
  }
  /// The m of a positive normal x = m 2^e with sqrt(1/2) <= m < sqrt(2).
  THIMBLE_INLINE friend Vec mantissa_of(Vec x) {
    using F = FloatLayout<real>;
    return each([&](int i) THIMBLE_INLINE_LAMBDA {
      return std::bit_cast<real>(((bits(x, i) + F::to_one) & F::mantissa_mask) + F::root_half_bits);
    });
  }

  /// The sum of the lanes: lane i takes lane i + 2, then i + 1.
  THIMBLE_INLINE real sum_across() const { return (lane[0] + lane[2]) + (lane[1] + lane[3]); }
  /// The maximum of the lanes in the same tree.
  THIMBLE_INLINE real max_across() const {
    const real even = lane[0] > lane[2] ? lane[0] : lane[2];
    const real odd = lane[1] > lane[3] ? lane[1] : lane[3];
    return even > odd ? even : odd;
  }

 private:
  template <class F>
  THIMBLE_INLINE static Vec each(F f) {
    return {{f(0), f(1), f(2), f(3)}};
  }
  template <class F>
  THIMBLE_INLINE static Mask test(F f) {
    return {{f(0), f(1), f(2), f(3)}};
  }
  THIMBLE_INLINE static BitsOf<real> bits(Vec a, int i) { return std::bit_cast<BitsOf<real>>(a.lane[i]); }
};

}  // namespace thimble
