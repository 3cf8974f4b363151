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
  /// n numbers added to every row after all partial sums, or null.
  const real* bias = nullptr;
  /// product_scratch_bytes() of memory, aligned to 64 bytes, shared by all workers; null where that is 0.
  void* scratch = nullptr;
};

/// Bytes that product() packs operands into: the same for every instruction set, 0 for small products.
THIMBLE_INLINE constexpr std::int64_t product_scratch_bytes(ProductKind, std::int64_t, std::int64_t,
                                                            std::int64_t, int, std::int64_t) {
  return 0;
}

}  // namespace thimble
