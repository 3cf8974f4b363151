#pragma once
/// Sums over the rows of a matrix, one per column: the gradients of gains and biases.
///
/// Order of sums, that of the matrix products: p_j = chain over rows 256 j .. 256 j + 255 in ascending order,
/// from +0; then d = p_0 (or d + p_0 where the gradient adds), d = d + p_1, ... Workers split columns.

#include "core/ops/elements.hpp"
#include "core/ops/product_args.hpp"

namespace thimble::detail {

/// Rows are walked for so many native vectors of columns at once.
template <class S>
inline constexpr int kStripVecs = S::width <= 4 ? 1 : 4;

/// The sums of vecs[0], vecs[1], ... , n each; see sum_columns.
template <class S, int n, int vec_count, class At, class Term>
THIMBLE_INLINE void sum_strip(const At (&vecs)[vec_count], std::ptrdiff_t rows,
                              typename S::real* const (&outs)[n], const bool (&adds)[n], Term term) {
  using Vec = typename S::Vec;
  std::ptrdiff_t r = 0;
  do {
    Vec sums[vec_count][n];
    for (auto& of_vec : sums) {
      for (Vec& sum : of_vec) sum = Vec::broadcast(0);
    }
    const bool first = r == 0;
    for (const std::ptrdiff_t end = r + kSumBlock < rows ? r + kSumBlock : rows; r < end; ++r) {
      for (int v = 0; v < vec_count; ++v) term(vecs[v], r, sums[v]);
    }
    for (int i = 0; i < n; ++i) {
      for (int v = 0; v < vec_count && outs[i] != nullptr; ++v) {
        put_gradient<S>(vecs[v], outs[i], sums[v][i], adds[i] || !first);
      }
    }
  } while (r < rows);
}

/// `term(at, r, sums)` adds row r's terms at the columns of a native vector to sums[0..n-1], each by one
/// addition or mul_add; sums[i] then goes to outs[i], unless that is null.
template <class S, int n, class Term>
THIMBLE_INLINE void sum_columns(std::ptrdiff_t rows, int cols, typename S::real* const (&outs)[n],
                                const bool (&adds)[n], const Worker& worker, Term term) {
  constexpr int w = S::width;
  const Range range = worker.share(cols, 16);
  std::ptrdiff_t c = range.begin;
  if constexpr (kStripVecs<S> == 4) {
    for (; c + 4 * w <= range.end; c += 4 * w) {
      sum_strip<S, n, 4>({FullVec<S>{c}, {c + w}, {c + 2 * w}, {c + 3 * w}}, rows, outs, adds, term);
    }
  }
  for (; c + w <= range.end; c += w) sum_strip<S, n, 1>({FullVec<S>{c}}, rows, outs, adds, term);
  if (c < range.end) sum_strip<S, n, 1>({TailVec<S>{c, int(range.end - c)}}, rows, outs, adds, term);
}

/// The sums of the rows of x [rows, cols], one per column; nothing where out is null.
template <class S>
THIMBLE_INLINE void sum_rows(const typename S::real* x, std::ptrdiff_t rows, int cols, typename S::real* out, bool adds,
                             const Worker& worker) {
#if THIMBLE_ARM_FPU
  if constexpr (kHasArmFpu<typename S::Vec>) {
    const Range mine = worker.share(cols, 16);
    for (std::ptrdiff_t c = mine.begin; out != nullptr && c < mine.end; c += 8) {
      const std::ptrdiff_t live = mine.end - c < 8 ? mine.end - c : 8;
      std::ptrdiff_t r = 0;
      do {
        const std::ptrdiff_t block = rows - r < kSumBlock ? rows - r : std::ptrdiff_t(kSumBlock);
        float sums[8];
        const bool whole = live == 8 && block > 0;
        if (whole && !adds && block == rows) {
          arm_sum_rows(x + c, cols, rows, out + c);
          break;
        }
        if (whole) arm_sum_rows(x + r * cols + c, cols, block, sums);
        for (std::ptrdiff_t k = 0; k < live; ++k) {
          if (!whole) sums[k] = 0;
          for (std::ptrdiff_t i = r; !whole && i < r + block; ++i) sums[k] = sums[k] + x[i * cols + c + k];
          out[c + k] = adds || r > 0 ? out[c + k] + sums[k] : sums[k];
        }
        r += kSumBlock;
      } while (r < rows);
    }
    return;
  }
#endif
  sum_columns<S, 1>(rows, cols, {out}, {adds}, worker, [=](auto at, std::ptrdiff_t r, typename S::Vec(&sums)[1])
                    THIMBLE_INLINE_LAMBDA { sums[0] = sums[0] + at.load(x + r * cols); });
}

/// The same for the reference kernels: d = sum over rows of term(r), or d + it.
template <class Term>
THIMBLE_INLINE void reference_sum(std::ptrdiff_t rows, double& d, bool adds, Term term) {
  double sum = 0;
  for (std::ptrdiff_t r = 0; r < rows; ++r) sum += term(r);
  put_gradient(d, sum, adds);
}

}  // namespace thimble::detail
