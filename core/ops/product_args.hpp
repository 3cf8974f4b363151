#pragma once
/// What a matrix product is asked for, and how much scratch memory it wants.

#include <cstdint>

#include "core/base/worker.hpp"
#include "core/simd/simd.hpp"

namespace thimble {

/// Which operand is transposed. All matrices are row-major.
enum class ProductKind : std::uint8_t {
  nn,  ///< C[m, n] = sum_k A[m, k] B[k, n]
  nt,  ///< C[m, n] = sum_k A[m, k] B[n, k]
  tn,  ///< C[m, n] = sum_k A[k, m] B[k, n]
};

/// What happens to the numbers that C held before.
enum class Update : std::uint8_t { overwrite, accumulate };

/// Summands of one partial sum. Part of the order of sums, see product.hpp.
inline constexpr std::int64_t kSumBlock = 256;

/// Operands of one product. Leading dimensions are distances between rows, in numbers. C overlaps nothing
/// else.
template <class real>
struct ProductArgs {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const real* a = nullptr;
  std::int64_t lda = 0;
  const real* b = nullptr;
  std::int64_t ldb = 0;
  real* c = nullptr;
  std::int64_t ldc = 0;
  Update update = Update::overwrite;
  /// n numbers that the first partial sums of every row begin with, or null.
  const real* bias = nullptr;
  /// product_scratch_bytes() of memory, aligned to 64 bytes, shared by all workers; null where that is 0.
  void* scratch = nullptr;
};

namespace detail {

/// Packed rows of A are this far apart: a summation block, and a cache line so that rows do not compete for
/// the same cache sets.
inline constexpr std::int64_t kPackedPitch = kSumBlock + 16;
/// No instruction set has a wider panel of B.
inline constexpr std::int64_t kWidestPanel = 48;
/// Fills up the last register tile: a multiple of the rows of all of them.
inline constexpr std::int64_t kRowTiles = 24;

/// Numbers of an operand from which packing pays: fewer stay in the second level cache beside what else a product reads,
/// from where tiles read them as fast.
inline constexpr std::int64_t kPackedCount = std::int64_t(1) << 17;

/// B is read again for every tile of rows; A^T only once, but a few numbers from each of its rows.
THIMBLE_INLINE constexpr bool product_is_packed(ProductKind kind, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t across = kind == ProductKind::tn && m > n ? m : n;
  return m >= 16 && n >= 16 && k >= 16 && across * k >= kPackedCount;
}

/// Do workers share rows of C, rather than columns? They need all of B then, rather than all of A; and what makes or reads
/// a C with a row per token has its rows on the same worker.
THIMBLE_INLINE constexpr bool workers_share_rows(ProductKind kind, std::int64_t m, std::int64_t n, std::int64_t k) {
  return n * k < m * k + (kind == ProductKind::tn ? 0 : m * n);
}

/// Rows of A in cache at a time. A transposed panel of B is dearer to pack, so more rows use it.
THIMBLE_INLINE constexpr std::int64_t packed_rows_most(ProductKind kind) {
  return kind == ProductKind::nt ? 512 : 256;
}
THIMBLE_INLINE constexpr std::int64_t packed_rows(ProductKind kind, std::int64_t m) {
  const std::int64_t most = packed_rows_most(kind);
  const std::int64_t rows = m < most ? m : most;
  return (rows + kRowTiles - 1) / kRowTiles * kRowTiles;
}

/// Numbers that one worker packs into.
THIMBLE_INLINE constexpr std::int64_t packed_count(ProductKind kind, std::int64_t m) {
  return packed_rows(kind, m) * kPackedPitch + kSumBlock * kWidestPanel;
}

}  // namespace detail

/// Bytes that product() packs operands into: the same for every instruction set, 0 for small products.
THIMBLE_INLINE constexpr std::int64_t product_scratch_bytes(ProductKind kind, std::int64_t m, std::int64_t n,
                                                            std::int64_t k, int workers,
                                                            std::int64_t real_bytes) {
  return detail::product_is_packed(kind, m, n, k) ? workers * detail::packed_count(kind, m) * real_bytes : 0;
}

}  // namespace thimble
