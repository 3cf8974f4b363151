#pragma once
/// What native vectors need of x86 registers beyond xsimd, for the instruction sets that the including unit
/// is compiled for. Every operation has the bits of its counterpart in plain C++.

#include "core/simd/plain.hpp"

#if defined(__AVX2__) && defined(__FMA__)
// g++ 12 takes the "undefined" registers inside its own AVX-512 intrinsics for a mistake of ours (PR 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <xsimd/xsimd.hpp>

namespace thimble::detail {

/// The xsimd architecture of `Arch` and the operations on its registers. Where numbers are taken or given by
/// a count n, they are the first n lanes, and memory beyond is neither read nor written. Trees fold the upper
/// half of the lanes onto the lower one until one is left. `max` is a > b ? a : b, also for NaN and zeros.
template <class Arch>
struct Registers;

template <>
struct Registers<Avx2> {
  using XsimdArch = xsimd::fma3<xsimd::avx2>;

  THIMBLE_INLINE static __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
  THIMBLE_INLINE static __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
  THIMBLE_INLINE static __m256 max(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
  THIMBLE_INLINE static __m256d max(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
  THIMBLE_INLINE static __m256 min(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
  THIMBLE_INLINE static __m256d min(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
  THIMBLE_INLINE static __m256 is_nan(__m256 a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
  THIMBLE_INLINE static __m256d is_nan(__m256d a) { return _mm256_cmp_pd(a, a, _CMP_UNORD_Q); }

  THIMBLE_INLINE static __m256 load_first(const float* p, int n, __m256 others) {
    return first_or(_mm256_maskload_ps(p, mask32(n)), n, others);
  }
  THIMBLE_INLINE static __m256d load_first(const double* p, int n, __m256d others) {
    return first_or(_mm256_maskload_pd(p, mask64(n)), n, others);
  }
  THIMBLE_INLINE static void store_first(float* p, int n, __m256 v) { _mm256_maskstore_ps(p, mask32(n), v); }
  THIMBLE_INLINE static void store_first(double* p, int n, __m256d v) {
    _mm256_maskstore_pd(p, mask64(n), v);
  }
  THIMBLE_INLINE static __m256 first_or(__m256 v, int n, __m256 others) {
    return _mm256_blendv_ps(others, v, _mm256_castsi256_ps(mask32(n)));
  }
  THIMBLE_INLINE static __m256d first_or(__m256d v, int n, __m256d others) {
    return _mm256_blendv_pd(others, v, _mm256_castsi256_pd(mask64(n)));
  }

  THIMBLE_INLINE static float sum_tree(__m256 v) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  THIMBLE_INLINE static double sum_tree(__m256d v) {
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  THIMBLE_INLINE static float max_tree(__m256 v) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }
  THIMBLE_INLINE static double max_tree(__m256d v) {
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  }

 private:
  THIMBLE_INLINE static __m256i mask32(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  THIMBLE_INLINE static __m256i mask64(int n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  }
};

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
template <>
struct Registers<Avx512> {
  using XsimdArch = xsimd::avx512bw;
  using Half = Registers<Avx2>;

  THIMBLE_INLINE static __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
  THIMBLE_INLINE static __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
  THIMBLE_INLINE static __m512 max(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
  THIMBLE_INLINE static __m512d max(__m512d a, __m512d b) { return _mm512_max_pd(a, b); }
  THIMBLE_INLINE static __m512 min(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
  THIMBLE_INLINE static __m512d min(__m512d a, __m512d b) { return _mm512_min_pd(a, b); }
  THIMBLE_INLINE static __mmask16 is_nan(__m512 a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
  THIMBLE_INLINE static __mmask8 is_nan(__m512d a) { return _mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q); }
  /// x 2^n in one instruction, rounded once.
  THIMBLE_INLINE static __m512 scale(__m512 x, __m512 n) { return _mm512_scalef_ps(x, n); }
  THIMBLE_INLINE static __m512d scale(__m512d x, __m512d n) { return _mm512_scalef_pd(x, n); }
  /// The correctly rounded root, by multiply-adds on g = sqrt(x) and h = 1 / (2 g) from an approximation (Markstein,
  /// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990): a division unit takes about
  /// twice as long, and is then free for a division. Numbers that may leave the range of exponents are left to it.
  THIMBLE_INLINE static __m512 square_root(__m512 x) {
    constexpr auto low = std::bit_cast<std::uint32_t>(0x1p-100f), high = std::bit_cast<std::uint32_t>(0x1p100f);
    const __m512i above = _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(int(low)));
    if (_mm512_cmpgt_epu32_mask(above, _mm512_set1_epi32(int(high - low))) != 0) [[unlikely]] return _mm512_sqrt_ps(x);
    const __m512 half = _mm512_set1_ps(0.5f), y = _mm512_rsqrt14_ps(x);
    __m512 g = _mm512_mul_ps(x, y), h = _mm512_mul_ps(half, y);
    const __m512 error = _mm512_fnmadd_ps(h, g, half);
    g = _mm512_fmadd_ps(g, error, g);
    h = _mm512_fmadd_ps(h, error, h);
    return _mm512_fmadd_ps(h, _mm512_fnmadd_ps(g, g, x), g);
  }
  THIMBLE_INLINE static __m512d square_root(__m512d x) { return _mm512_sqrt_pd(x); }

  THIMBLE_INLINE static __m512 load_first(const float* p, int n, __m512 others) {
    return _mm512_mask_loadu_ps(others, mask16(n), p);
  }
  THIMBLE_INLINE static __m512d load_first(const double* p, int n, __m512d others) {
    return _mm512_mask_loadu_pd(others, mask8(n), p);
  }
  THIMBLE_INLINE static void store_first(float* p, int n, __m512 v) {
    _mm512_mask_storeu_ps(p, mask16(n), v);
  }
  THIMBLE_INLINE static void store_first(double* p, int n, __m512d v) {
    _mm512_mask_storeu_pd(p, mask8(n), v);
  }
  THIMBLE_INLINE static __m512 first_or(__m512 v, int n, __m512 others) {
    return _mm512_mask_blend_ps(mask16(n), others, v);
  }
  THIMBLE_INLINE static __m512d first_or(__m512d v, int n, __m512d others) {
    return _mm512_mask_blend_pd(mask8(n), others, v);
  }

  THIMBLE_INLINE static float sum_tree(__m512 v) {
    return Half::sum_tree(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
  }
  THIMBLE_INLINE static double sum_tree(__m512d v) {
    return Half::sum_tree(_mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1)));
  }
  THIMBLE_INLINE static float max_tree(__m512 v) {
    return Half::max_tree(_mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
  }
  THIMBLE_INLINE static double max_tree(__m512d v) {
    return Half::max_tree(_mm256_max_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1)));
  }

 private:
  THIMBLE_INLINE static __mmask16 mask16(int n) { return __mmask16((1u << n) - 1); }
  THIMBLE_INLINE static __mmask8 mask8(int n) { return __mmask8((1u << n) - 1); }
};
#endif

}  // namespace thimble::detail
#endif
