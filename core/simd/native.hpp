#pragma once
/// Vec on xsimd batches, for the instruction sets that the including unit is compiled for.
///
/// xsimd serves what every architecture rounds alike (+ - * / sqrt, comparisons, selections). The multiply-add is
/// ours: Debian's xsimd 8.1 does not fuse it on AVX-512. So are all sums across lanes and all functions.

#include "core/simd/plain.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#include <xsimd/xsimd.hpp>

namespace thimble {
namespace detail {

template <class Arch>
struct XsimdArch;
template <>
struct XsimdArch<Avx2> {
  using type = xsimd::fma3<xsimd::avx2>;
};
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
template <>
struct XsimdArch<Avx512> {
  using type = xsimd::avx512bw;
};
#endif

THIMBLE_INLINE __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
THIMBLE_INLINE __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
THIMBLE_INLINE __m256i first_mask32(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
THIMBLE_INLINE __m256i first_mask64(int n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
THIMBLE_INLINE void load_masked(const float* p, int n, __m256& r) { r = _mm256_maskload_ps(p, first_mask32(n)); }
THIMBLE_INLINE void load_masked(const double* p, int n, __m256d& r) { r = _mm256_maskload_pd(p, first_mask64(n)); }
THIMBLE_INLINE void store_masked(float* p, int n, __m256 v) { _mm256_maskstore_ps(p, first_mask32(n), v); }
THIMBLE_INLINE void store_masked(double* p, int n, __m256d v) { _mm256_maskstore_pd(p, first_mask64(n), v); }

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
THIMBLE_INLINE __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
THIMBLE_INLINE __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
THIMBLE_INLINE void load_masked(const float* p, int n, __m512& r) {
  r = _mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p);
}
THIMBLE_INLINE void load_masked(const double* p, int n, __m512d& r) {
  r = _mm512_maskz_loadu_pd(__mmask8((1u << n) - 1), p);
}
THIMBLE_INLINE void store_masked(float* p, int n, __m512 v) {
  _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), v);
}
THIMBLE_INLINE void store_masked(double* p, int n, __m512d v) {
  _mm512_mask_storeu_pd(p, __mmask8((1u << n) - 1), v);
}
#endif

}  // namespace detail

template <class real, class Arch>
  requires requires { typename detail::XsimdArch<Arch>::type; }
struct Vec<real, Arch> {
  using Real = real;
  using Batch = xsimd::batch<real, typename detail::XsimdArch<Arch>::type>;
  using Bits = xsimd::batch<BitsOf<real>, typename detail::XsimdArch<Arch>::type>;
  using Register = typename Batch::register_type;
  using Mask = typename Batch::batch_bool_type;
  static constexpr int width = int(Batch::size);

  Batch v;

  static Vec broadcast(real x) { return {Batch(x)}; }
  static Vec load(const real* p) { return {Batch::load_unaligned(p)}; }
  /// The first n numbers at p, zeros behind them; reads nothing beyond. 0 <= n <= width.
  static Vec load_first(const real* p, int n) {
    Register r;
    detail::load_masked(p, n, r);
    return {Batch(r)};
  }
  void store(real* p) const { v.store_unaligned(p); }
  void store_first(real* p, int n) const { detail::store_masked(p, n, Register(v)); }

  friend Vec operator+(Vec a, Vec b) { return {a.v + b.v}; }
  friend Vec operator-(Vec a, Vec b) { return {a.v - b.v}; }
  friend Vec operator*(Vec a, Vec b) { return {a.v * b.v}; }
  friend Vec operator/(Vec a, Vec b) { return {a.v / b.v}; }
  friend Vec operator-(Vec a) { return from_bits(bits(a) ^ Bits(kSign)); }
  friend Vec mul_add(Vec a, Vec b, Vec c) {
    return {Batch(detail::fused(Register(a.v), Register(b.v), Register(c.v)))};
  }
  friend Vec square_root(Vec a) { return {xsimd::sqrt(a.v)}; }
  friend Vec absolute(Vec a) { return from_bits(bits(a) & Bits(~kSign)); }
  /// a > b ? a : b, so the second where either is NaN (the rule of x86).
  friend Vec maximum(Vec a, Vec b) { return {xsimd::select(a.v > b.v, a.v, b.v)}; }
  friend Vec minimum(Vec a, Vec b) { return {xsimd::select(a.v < b.v, a.v, b.v)}; }

  friend Mask operator<(Vec a, Vec b) { return a.v < b.v; }
  friend Mask operator<=(Vec a, Vec b) { return a.v <= b.v; }
  friend Mask is_nan(Vec a) { return a.v != a.v; }
  friend Vec select(Mask m, Vec yes, Vec no) { return {xsimd::select(m, yes.v, no.v)}; }

  /// |x| with the sign of s.
  friend Vec copy_sign(Vec x, Vec s) {
    return from_bits((bits(x) & Bits(~kSign)) | (bits(s) & Bits(kSign)));
  }
  /// 2^n for an integral n of a normal result.
  friend Vec pow2(Vec n) {
    using F = FloatLayout<real>;
    const Bits shifted = bits({n.v + Batch(F::round_magic)}) << F::mantissa_bits;
    return from_bits(shifted + Bits(BitsOf<real>(F::bias) << F::mantissa_bits));
  }
  /// The binary exponent e of a positive normal x = m 2^e with 1 <= m < 2.
  friend Vec exponent_of(Vec x) {
    using F = FloatLayout<real>;
    constexpr real two_to_m = real(BitsOf<real>(1) << F::mantissa_bits);
    const Bits biased = bits(x) >> F::mantissa_bits;
    return {from_bits(biased | Bits(std::bit_cast<BitsOf<real>>(two_to_m))).v - Batch(two_to_m + F::bias)};
  }
  /// The m of a positive normal x = m 2^e with 1 <= m < 2.
  friend Vec mantissa_of(Vec x) {
    using F = FloatLayout<real>;
    constexpr BitsOf<real> mask = (BitsOf<real>(1) << F::mantissa_bits) - 1;
    return from_bits((bits(x) & Bits(mask)) | Bits(BitsOf<real>(F::bias) << F::mantissa_bits));
  }

 private:
  static constexpr BitsOf<real> kSign = ~(~BitsOf<real>(0) >> 1);
  static Bits bits(Vec a) { return xsimd::bitwise_cast<Bits>(a.v); }
  static Vec from_bits(Bits b) { return {xsimd::bitwise_cast<Batch>(b)}; }
};

}  // namespace thimble
#endif
