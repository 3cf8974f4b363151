#pragma once
/// Copies columns of B[n, k] into a panel [k][pitch] that vectors can be loaded from.
///
/// Native vectors are put together from 16-byte pieces of rows, a piece for each 16-byte lane, so that all
/// further shuffles stay within lanes: lane l of piece q holds E = 16 / sizeof(real) numbers of row l E + q.

#include "core/ops/product_tile.hpp"

namespace thimble::detail {

/// The shuffles of one kernel set; undefined where it has none.
template <class real, class Arch>
struct LanePieces;

#if defined(__AVX2__) && defined(__FMA__)
template <>
struct LanePieces<float, Avx2> {
  template <class At>
  THIMBLE_INLINE static __m256 load(At at) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(at(0))), _mm_loadu_ps(at(1)), 1);
  }
  THIMBLE_INLINE static void transpose(__m256 (&r)[4]) {
    const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(r[0], r[1])),
                  b = _mm256_castps_pd(_mm256_unpackhi_ps(r[0], r[1]));
    const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(r[2], r[3])),
                  d = _mm256_castps_pd(_mm256_unpackhi_ps(r[2], r[3]));
    r[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    r[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    r[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    r[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
  }
};
template <>
struct LanePieces<double, Avx2> {
  template <class At>
  THIMBLE_INLINE static __m256d load(At at) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(at(0))), _mm_loadu_pd(at(1)), 1);
  }
  THIMBLE_INLINE static void transpose(__m256d (&r)[2]) {
    const __m256d first = _mm256_unpacklo_pd(r[0], r[1]);
    r[1] = _mm256_unpackhi_pd(r[0], r[1]);
    r[0] = first;
  }
};
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)
template <>
struct LanePieces<float, Avx512> {
  template <class At>
  THIMBLE_INLINE static __m512 load(At at) {
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(at(0)));
    v = _mm512_mask_broadcast_f32x4(v, 0x00F0, _mm_loadu_ps(at(1)));
    v = _mm512_mask_broadcast_f32x4(v, 0x0F00, _mm_loadu_ps(at(2)));
    return _mm512_mask_broadcast_f32x4(v, 0xF000, _mm_loadu_ps(at(3)));
  }
  THIMBLE_INLINE static void transpose(__m512 (&r)[4]) {
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(r[0], r[1])),
                  b = _mm512_castps_pd(_mm512_unpackhi_ps(r[0], r[1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(r[2], r[3])),
                  d = _mm512_castps_pd(_mm512_unpackhi_ps(r[2], r[3]));
    r[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    r[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    r[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    r[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
};
template <>
struct LanePieces<double, Avx512> {
  template <class At>
  THIMBLE_INLINE static __m512d load(At at) {
    __m512d v = _mm512_castpd128_pd512(_mm_loadu_pd(at(0)));
    v = _mm512_mask_broadcast_f64x2(v, 0x0C, _mm_loadu_pd(at(1)));
    v = _mm512_mask_broadcast_f64x2(v, 0x30, _mm_loadu_pd(at(2)));
    return _mm512_mask_broadcast_f64x2(v, 0xC0, _mm_loadu_pd(at(3)));
  }
  THIMBLE_INLINE static void transpose(__m512d (&r)[2]) {
    const __m512d first = _mm512_unpacklo_pd(r[0], r[1]);
    r[1] = _mm512_unpackhi_pd(r[0], r[1]);
    r[0] = first;
  }
};
#endif

template <class S>
struct PanelTranspose {
  using real = typename S::real;
  using Pieces = LanePieces<real, typename S::Arch>;
  static constexpr int kWidth = S::width;
  static constexpr int kPiece = 16 / int(sizeof(real));

  /// panel[p * pitch + j] = b[j * ldb + p] for j < columns, p < k. Lanes up to the next full vector are
  /// filled with numbers of B that nobody looks at.
  static void run(const real* b, std::int64_t ldb, std::int64_t columns, std::int64_t k, real* panel,
                  std::int64_t pitch) {
    std::int64_t j = 0;
    for (; j + kWidth <= columns; j += kWidth) {
      const real* const rows = b + j * ldb;
      vectors(k, panel + j, pitch, [=](int row) THIMBLE_INLINE_LAMBDA { return rows + row * ldb; });
    }
    if (j < columns) {
      const real* row_at[kWidth];
      for (int row = 0; row < kWidth; ++row) {
        row_at[row] = b + (j + row < columns ? j + row : columns - 1) * ldb;
      }
      vectors(k, panel + j, pitch, [&](int row) THIMBLE_INLINE_LAMBDA { return row_at[row]; });
    }
  }

 private:
  template <class RowAt>
  THIMBLE_INLINE static void vectors(std::int64_t k, real* to, std::int64_t pitch, RowAt row_at) {
    std::int64_t p = 0;
    for (; p + kPiece <= k; p += kPiece) {
      typename S::Vec::Register r[kPiece];
      unrolled<kPiece>([&](auto q) THIMBLE_INLINE_LAMBDA {
        r[q] = Pieces::load([&](int lane) THIMBLE_INLINE_LAMBDA { return row_at(lane * kPiece + q) + p; });
      });
      Pieces::transpose(r);
      unrolled<kPiece>([&](auto q) THIMBLE_INLINE_LAMBDA {
        typename S::Vec{typename S::Vec::Batch(r[q])}.store(to + (p + q) * pitch);
      });
    }
    for (; p < k; ++p) {
      for (int row = 0; row < kWidth; ++row) to[p * pitch + row] = row_at(row)[p];
    }
  }
};

}  // namespace thimble::detail
