#pragma once
/// Sums over the rows of a matrix, one per column: the gradients of gains and biases.
///
/// Order of sums, that of the matrix products: p_j = chain over rows 256 j .. 256 j + 255 in ascending order,
/// from +0; then d = p_0 (or d + p_0 where the gradient adds), d = d + p_1, ... Workers split columns.

#include "core/ops/elements.hpp"
#include "core/ops/product_args.hpp"
#include "core/simd/lanes.hpp"

namespace thimble::detail {

/// `term(at, r, sums)` adds row r's terms at sixteen columns to sums[0..n-1], each by one addition or
/// mul_add; sums[i] then goes to outs[i].
template <class S, int n, class Term>
THIMBLE_INLINE void sum_columns(std::int64_t rows, int cols, typename S::real* const (&outs)[n],
                                const bool (&adds)[n], const Worker& worker, Term term) {
  const Range range = worker.share(cols, Lanes<S>::count);
  const auto strip = [&](auto at) {
    std::int64_t r = 0;
    do {
      Lanes<S> sums[n];
      for (int i = 0; i < n; ++i) sums[i] = Lanes<S>::zero();
      const bool first = r == 0;
      for (const std::int64_t end = r + kSumBlock < rows ? r + kSumBlock : rows; r < end; ++r)
        term(at, r, sums);
      for (int i = 0; i < n; ++i) {
        if (outs[i] != nullptr) put_gradient<S>(at, outs[i], sums[i], adds[i] || !first);
      }
    } while (r < rows);
  };
  std::int64_t c = range.begin;
  for (; c + Lanes<S>::count <= range.end; c += Lanes<S>::count) strip(FullLanes<S>{c});
  if (c < range.end) strip(TailLanes<S>{c, int(range.end - c)});
}

/// The same for the reference kernels: d = sum over rows of term(r), or d + it.
template <class Term>
THIMBLE_INLINE void reference_sum(std::int64_t rows, double& d, bool adds, Term term) {
  double sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) sum += term(r);
  put_gradient(d, sum, adds);
}

}  // namespace thimble::detail
