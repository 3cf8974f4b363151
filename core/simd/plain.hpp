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

  static Vec broadcast(real x) { return each([&](int) { return x; }); }
  static Vec load(const real* p) { return each([&](int i) { return p[i]; }); }
  /// The first n numbers at p, zeros behind them; reads nothing beyond. 0 <= n <= width.
  static Vec load_first(const real* p, int n) { return each([&](int i) { return i < n ? p[i] : real(0); }); }
  void store(real* p) const {
    for (int i = 0; i < width; ++i) p[i] = lane[i];
  }
  void store_first(real* p, int n) const {
    for (int i = 0; i < n; ++i) p[i] = lane[i];
  }

  friend Vec operator+(Vec a, Vec b) { return each([&](int i) { return a.lane[i] + b.lane[i]; }); }
  friend Vec operator-(Vec a, Vec b) { return each([&](int i) { return a.lane[i] - b.lane[i]; }); }
  friend Vec operator*(Vec a, Vec b) { return each([&](int i) { return a.lane[i] * b.lane[i]; }); }
  friend Vec operator/(Vec a, Vec b) { return each([&](int i) { return a.lane[i] / b.lane[i]; }); }
  friend Vec operator-(Vec a) { return each([&](int i) { return -a.lane[i]; }); }
  friend Vec mul_add(Vec a, Vec b, Vec c) {
    return each([&](int i) { return thimble::mul_add<P>(a.lane[i], b.lane[i], c.lane[i]); });
  }
  friend Vec square_root(Vec a) { return each([&](int i) { return thimble::square_root(a.lane[i]); }); }
  friend Vec absolute(Vec a) {
    return each([&](int i) { return std::bit_cast<real>(bits(a, i) & (~BitsOf<real>(0) >> 1)); });
  }
  /// a > b ? a : b, so the second where either is NaN (the rule of x86).
  friend Vec maximum(Vec a, Vec b) {
    return each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  friend Vec minimum(Vec a, Vec b) {
    return each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }

  friend Mask operator<(Vec a, Vec b) { return test([&](int i) { return a.lane[i] < b.lane[i]; }); }
  friend Mask operator<=(Vec a, Vec b) { return test([&](int i) { return a.lane[i] <= b.lane[i]; }); }
  friend Mask is_nan(Vec a) { return test([&](int i) { return a.lane[i] != a.lane[i]; }); }
  friend Vec select(Mask m, Vec yes, Vec no) {
    return each([&](int i) { return m.lane[i] ? yes.lane[i] : no.lane[i]; });
  }

  /// |x| with the sign of s.
  friend Vec copy_sign(Vec x, Vec s) {
    constexpr BitsOf<real> sign = ~(~BitsOf<real>(0) >> 1);
    return each([&](int i) { return std::bit_cast<real>((bits(x, i) & ~sign) | (bits(s, i) & sign)); });
  }
  /// 2^n for an integral n of a normal result.
  friend Vec pow2(Vec n) {
    using F = FloatLayout<real>;
    return each([&](int i) {
      const auto shifted = std::bit_cast<BitsOf<real>>(n.lane[i] + F::round_magic) << F::mantissa_bits;
      return std::bit_cast<real>(shifted + (BitsOf<real>(F::bias) << F::mantissa_bits));
    });
  }
  /// The binary exponent e of a positive normal x = m 2^e with 1 <= m < 2.
  friend Vec exponent_of(Vec x) {
    using F = FloatLayout<real>;
    constexpr real two_to_m = real(BitsOf<real>(1) << F::mantissa_bits);
    return each([&](int i) {
      const auto biased = bits(x, i) >> F::mantissa_bits;
      return std::bit_cast<real>(biased | std::bit_cast<BitsOf<real>>(two_to_m)) - (two_to_m + F::bias);
    });
  }
  /// The m of a positive normal x = m 2^e with 1 <= m < 2.
  friend Vec mantissa_of(Vec x) {
    using F = FloatLayout<real>;
    constexpr BitsOf<real> mask = (BitsOf<real>(1) << F::mantissa_bits) - 1;
    return each([&](int i) {
      return std::bit_cast<real>((bits(x, i) & mask) | (BitsOf<real>(F::bias) << F::mantissa_bits));
    });
  }

 private:
  template <class F>
  static Vec each(F f) {
    Vec r;
    for (int i = 0; i < width; ++i) r.lane[i] = f(i);
    return r;
  }
  template <class F>
  static Mask test(F f) {
    Mask r;
    for (int i = 0; i < width; ++i) r.lane[i] = f(i);
    return r;
  }
  static BitsOf<real> bits(Vec a, int i) { return std::bit_cast<BitsOf<real>>(a.lane[i]); }
};

}  // namespace thimble
