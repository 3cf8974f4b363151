#pragma once
/// Walks over numbers that are treated one by one, a native vector at a time, and how a gradient is put down.

#include "core/ops/op.hpp"
#include "core/simd/lanes.hpp"

namespace thimble::detail {

/// A native vector of elements, from `index` on.
template <class S>
struct FullVec {
  using real = typename S::real;
  using Vec = typename S::Vec;
  std::ptrdiff_t index;

  THIMBLE_INLINE Vec load(const real* p) const { return Vec::load(p + index); }
  THIMBLE_INLINE void store(real* p, Vec x) const { x.store(p + index); }
};

/// The last `live` elements of a range, fewer than a native vector, from `index` on.
template <class S>
struct TailVec {
  using real = typename S::real;
  using Vec = typename S::Vec;
  std::ptrdiff_t index;
  int live;

  THIMBLE_INLINE Vec load(const real* p) const { return Vec::load_first(p + index, live); }
  THIMBLE_INLINE void store(real* p, Vec x) const { x.store_first(p + index, live); }
};

/// One element in all lanes: for lanes in plain C++, where the compiler computes what is equal once.
template <class S>
struct SingleVec {
  using real = typename S::real;
  using Vec = typename S::Vec;
  std::ptrdiff_t index;

  THIMBLE_INLINE Vec load(const real* p) const { return Vec::broadcast(p[index]); }
  THIMBLE_INLINE void store(real* p, Vec x) const { p[index] = x.lane[0]; }
};

/// Calls `body(at)` for every element, one after the other.
template <class S, class Body>
THIMBLE_INLINE void for_single_elements(Range range, Body body) {
  for (std::ptrdiff_t i = range.begin; i < range.end; ++i) body(SingleVec<S>{i});
}

/// Calls `body(at)` for every native vector of elements begin..end and for the tail, if any. The range is a whole number
/// of kUnit elements.
template <class S, int kUnit = 1, class Body>
THIMBLE_INLINE void for_elements(Range range, Body body) {
  std::ptrdiff_t i = range.begin;
  for (; i + S::width <= range.end; i += S::width) body(FullVec<S>{i});
  if constexpr (kUnit % S::width != 0 && Lanes<S>::kLoops) {
    for_single_elements<S>({i, range.end}, body);
  } else if constexpr (kUnit % S::width != 0) {
    if (i < range.end) body(TailVec<S>{i, int(range.end - i)});
  }
}

/// Calls `body(at)` for all elements of a row of n, in no order that matters: by native vectors where sixteen lanes would
/// be a lot of code, else by sixteen lanes.
template <class S, int n, class Body>
THIMBLE_INLINE void for_row(Body body) {
  if constexpr (Lanes<S>::kLoops) {
    for_elements<S, n>({0, n}, body);
  } else {
    for_lanes<S>(n, body);
  }
}

/// This worker's part of n elements. The cuts are multiples of 16: no two workers write to one cache line.
template <class Real>
THIMBLE_INLINE Range element_share(const Call<Real>& call, int cols, const Worker& worker) {
  return worker.share(call.rows * cols, 16);
}

/// Calls `body(row, t)` for this worker's rows of call; row = b * context + t.
template <class Real, class Body>
THIMBLE_INLINE void for_tokens(const Call<Real>& call, const Worker& worker, Body body) {
  const Range rows = worker.share(call.rows);
  // The only division: boards have none for 64 bits.
  std::int32_t t = std::int32_t(rows.begin % call.extent.context);
  for (std::ptrdiff_t row = rows.begin; row < rows.end; ++row) {
    body(row, t);
    t = t + 1 < call.extent.context ? t + 1 : 0;
  }
}

/// d = g, or d = d + g where the gradient adds.
template <class S, class At, class X>
THIMBLE_INLINE void put_gradient(At at, typename S::real* d, X g, bool adds) {
  at.store(d, adds ? at.load(d) + g : g);
}

/// The same for one number of a reference kernel.
THIMBLE_INLINE void put_gradient(double& d, double g, bool adds) {
  d = adds ? d + g : g;
}

/// f of one double, for reference kernels: `f` is a function of core/simd/functions.hpp.
template <class F>
THIMBLE_INLINE double reference_of(double x, F f) {
  return f(Vec<double, Plain<Profile::fused>>::broadcast(x)).lane[0];
}

constexpr bool same_size(const Shape& a, const Shape& b) {
  return a.kind == b.kind && a.fixed_rows == b.fixed_rows && a.cols == b.cols;
}

/// Is it one row of n numbers: a gain, a bias?
constexpr bool is_row_of(const Shape& s, int n) {
  return s.kind == RowKind::fixed && s.fixed_rows == 1 && s.cols == n;
}

}  // namespace thimble::detail
