#pragma once
/// Vec on xsimd batches, for the instruction sets that the including unit is compiled for.
///
/// xsimd serves what every architecture computes alike (+ - * / sqrt, <, selections). Ours are the multiply-add, which
/// Debian's xsimd 8.1 does not fuse on AVX-512, the square root there, for its speed, the test for NaN, for its != is false
/// for NaN on AVX2, all sums across lanes and all functions.

#include "core/simd/registers.hpp"

#if defined(__AVX2__) && defined(__FMA__)
namespace thimble {

template <class real, class Arch>
requires requires {
  typename detail::Registers<Arch>::XsimdArch;
}
struct Vec<real, Arch> {
  using Real = real;
  using Registers = detail::Registers<Arch>;
  using Batch = xsimd::batch<real, typename Registers::XsimdArch>;
  using Bits = xsimd::batch<BitsOf<real>, typename Registers::XsimdArch>;
  using Register = typename Batch::register_type;
  using Mask = typename Batch::batch_bool_type;
  static constexpr int width = int(Batch::size);

  Batch v;

  THIMBLE_INLINE static Vec broadcast(real x) { return {Batch(x)}; }
  THIMBLE_INLINE static Vec load(const real* p) { return {Batch::load_unaligned(p)}; }
  /// The first n numbers at p, zeros (or the lanes of `others`) behind them; reads nothing beyond. 0 <= n <=
  /// width.
  THIMBLE_INLINE static Vec load_first(const real* p, int n, Vec others = broadcast(0)) {
    return wrap(Registers::load_first(p, n, reg(others)));
  }
  THIMBLE_INLINE void store(real* p) const { v.store_unaligned(p); }
  THIMBLE_INLINE void store_first(real* p, int n) const { Registers::store_first(p, n, reg(*this)); }
  /// The first n lanes, zeros behind them.
  THIMBLE_INLINE Vec first(int n) const {
    return wrap(Registers::first_or(reg(*this), n, reg(broadcast(0))));
  }

  THIMBLE_INLINE friend Vec operator+(Vec a, Vec b) { return {a.v + b.v}; }
  THIMBLE_INLINE friend Vec operator-(Vec a, Vec b) { return {a.v - b.v}; }
  THIMBLE_INLINE friend Vec operator*(Vec a, Vec b) { return {a.v * b.v}; }
  THIMBLE_INLINE friend Vec operator/(Vec a, Vec b) { return {a.v / b.v}; }
  THIMBLE_INLINE friend Vec operator-(Vec a) { return from_bits(bits(a) ^ Bits(kSign)); }
  THIMBLE_INLINE friend Vec mul_add(Vec a, Vec b, Vec c) {
    return wrap(Registers::fused(reg(a), reg(b), reg(c)));
  }
  THIMBLE_INLINE friend Vec square_root(Vec a) {
    if constexpr (requires { Registers::square_root(reg(a)); }) {
      return wrap(Registers::square_root(reg(a)));
    } else {
      return {xsimd::sqrt(a.v)};
    }
  }
  THIMBLE_INLINE friend Vec absolute(Vec a) { return from_bits(bits(a) & Bits(~kSign)); }
  /// a > b ? a : b, so the second where either is NaN (the rule of x86).
  THIMBLE_INLINE friend Vec maximum(Vec a, Vec b) { return wrap(Registers::max(reg(a), reg(b))); }
  THIMBLE_INLINE friend Vec minimum(Vec a, Vec b) { return wrap(Registers::min(reg(a), reg(b))); }

  THIMBLE_INLINE friend Mask operator<(Vec a, Vec b) { return a.v < b.v; }
  THIMBLE_INLINE friend Mask operator<=(Vec a, Vec b) { return a.v <= b.v; }
  THIMBLE_INLINE friend Mask is_nan(Vec a) { return Mask(Registers::is_nan(reg(a))); }
  THIMBLE_INLINE friend Vec select(Mask m, Vec yes, Vec no) { return {xsimd::select(m, yes.v, no.v)}; }

  /// |x| with the sign of s.
  THIMBLE_INLINE friend Vec copy_sign(Vec x, Vec s) {
    return from_bits((bits(x) & Bits(~kSign)) | (bits(s) & Bits(kSign)));
  }
  /// 2^n for an integral n of a normal result.
  THIMBLE_INLINE friend Vec pow2(Vec n) {
    using F = FloatLayout<real>;
    return from_bits(bits({n.v + Batch(F::round_magic + F::bias)}) << F::mantissa_bits);
  }
  /// x 2^n rounded once, for 1/2 <= |x| <= 2 and an integral n between -bias - mantissa_bits - 3 and bias
  /// + 1.
  THIMBLE_INLINE friend Vec scale(Vec x, Vec n) {
    if constexpr (requires { Registers::scale(reg(x), reg(n)); }) {
      return wrap(Registers::scale(reg(x), reg(n)));
    } else {
      using F = FloatLayout<real>;
      const Mask tiny = n < broadcast(F::tiny_exponent);
      const Vec up = select(tiny, broadcast(F::scale_up), broadcast(-1));
      return x * pow2(n + up) * select(tiny, broadcast(F::scale_down), broadcast(2));
    }
  }
  /// The binary exponent e of a positive normal x = m 2^e with sqrt(1/2) <= m < sqrt(2).
  THIMBLE_INLINE friend Vec exponent_of(Vec x) {
    using F = FloatLayout<real>;
    const Bits biased = (bits(x) + Bits(F::to_one)) >> F::mantissa_bits;
    return from_bits(biased | Bits(F::unit_bits)) - broadcast(F::unit + F::bias);
  }
  /// The m of a positive normal x = m 2^e with sqrt(1/2) <= m < sqrt(2).
  THIMBLE_INLINE friend Vec mantissa_of(Vec x) {
    using F = FloatLayout<real>;
    return from_bits(((bits(x) + Bits(F::to_one)) & Bits(F::mantissa_mask)) + Bits(F::root_half_bits));
  }

  /// The sum of the lanes: the upper half folded onto the lower one until one lane is left.
  THIMBLE_INLINE real sum_across() const { return Registers::sum_tree(reg(*this)); }
  /// The maximum of the lanes in the same tree.
  THIMBLE_INLINE real max_across() const { return Registers::max_tree(reg(*this)); }

 private:
  static constexpr BitsOf<real> kSign = ~(~BitsOf<real>(0) >> 1);
  THIMBLE_INLINE static Register reg(Vec a) { return Register(a.v); }
  THIMBLE_INLINE static Vec wrap(Register r) { return {Batch(r)}; }
  THIMBLE_INLINE static Bits bits(Vec a) { return xsimd::bitwise_cast<Bits>(a.v); }
  THIMBLE_INLINE static Vec from_bits(Bits b) { return {xsimd::bitwise_cast<Batch>(b)}; }
};

}  // namespace thimble
#endif
