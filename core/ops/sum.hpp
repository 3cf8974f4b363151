#pragma once
/// y = the sum of all elements of x.
///
/// Backward reads nothing: dx = dy at every element. It overwrites or adds.
/// Order of sums: each row in the row order of core/simd/lanes.hpp, then the rows' sums in ascending order.
/// Error: at most (columns / 16 + 4 + rows) roundings of the sum of |x|. Aliasing: none.
/// Dims: in = columns, option = rows, or 0 for one row per token.

#include "core/ops/elements.hpp"
#include "core/simd/lanes.hpp"

namespace thimble {

struct Sum {
  static constexpr Name name{"sum"};

  static constexpr Flops flops(const Value& v, const Extent& extent) {
    return {rows(v.dims, extent) * v.dims.in, 0};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < rows(d, call.extent) * d.in; ++i) sum += call.in(0)[i];
    call.out[0] = sum;
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < rows(d, call.extent) * d.in; ++i) {
      detail::put_gradient(call.d_in(0)[i], call.d_out[0], call.adds_to(0));
    }
  }

  /// One output, so one worker.
  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    if (worker.index != 0) return;
    typename S::real sum = 0;
    for (std::ptrdiff_t r = 0; r < rows(d, call.extent); ++r) sum += row_sum<S>(call.in(0) + r * d.in, d.in);
    call.out[0] = sum;
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    if (call.d_in(0) == nullptr) return;
    const auto dy = S::Vec::broadcast(call.d_out[0]);
    detail::for_elements<S>(worker.share(rows(d, call.extent) * d.in, 16),
                            [=](auto at) THIMBLE_INLINE_LAMBDA {
                              detail::put_gradient<S>(at, call.d_in(0), dy, call.adds_to(0));
                            });
  }

 private:
  /// Rows of x; call.rows are those of the one-number result.
  THIMBLE_INLINE static constexpr std::ptrdiff_t rows(Dims d, const Extent& extent) {
    return d.option > 0 ? d.option : std::ptrdiff_t(extent.batch) * extent.context;
  }
};

/// Appends the sum of all elements of x: one number.
constexpr ValueId sum(TapeBuilder& t, Name name, ValueId x) {
  const Shape in = t.shape(x);
  Value v = op_value(Sum::name, name, Shape::scalar(), {x});
  v.dims = {.in = in.cols, .out = 1, .option = in.kind == RowKind::fixed ? in.fixed_rows : 0};
  return t.add(v);
}

}  // namespace thimble
