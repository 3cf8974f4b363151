#pragma once
/// y = x W + b with W [in, out], or without b.
///
/// Backward reads x and W: dx = dy W^T, dW = x^T dy, db = column sums of dy. Each overwrites or adds.
/// Order of sums: that of core/ops/product.hpp, over inputs, outputs and rows in turn; db as
/// core/ops/column_sums.hpp. Error: (inputs + 1) roundings of |x| |W| + |b|, at most. Aliasing: none. Dims:
/// in, out = inputs and outputs, option = 1 with b.

#include "core/ops/column_sums.hpp"
#include "core/ops/product.hpp"
#include "core/plan/plan.hpp"

namespace thimble {

struct Linear {
  static constexpr Name name{"linear"};

  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t rows = v.shape.rows(extent);
    const std::int64_t product = 2 * rows * v.dims.in * v.dims.out;
    const std::int64_t bias = v.dims.option ? rows * v.dims.out : 0;
    return {product + bias, 2 * product + bias};
  }

  /// The products of a step run one after the other in the same scratch memory.
  static constexpr std::int64_t scratch_bytes(const Value& v, StepKind kind, const PlanOptions& options) {
    using enum ProductKind;
    const std::int64_t rows = v.shape.rows(kind == StepKind::decode ? Extent{1, 1} : options.extent);
    const std::int64_t in = v.dims.in, out = v.dims.out;
    const int workers = options.workers, bytes = options.real_bytes;
    if (kind != StepKind::backward) return product_scratch_bytes(nn, rows, out, in, workers, bytes);
    const std::int64_t dx = product_scratch_bytes(nt, rows, in, out, workers, bytes);
    const std::int64_t dw = product_scratch_bytes(tn, in, out, rows, workers, bytes);
    return dx > dw ? dx : dw;
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      for (int j = 0; j < d.out; ++j) {
        double sum = 0;
        for (int i = 0; i < d.in; ++i)
          sum += call.in(0)[r * d.in + i] * call.in(1)[std::ptrdiff_t(i) * d.out + j];
        call.out[r * d.out + j] = d.option ? sum + call.in(2)[j] : sum;
      }
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    const double* dy = call.d_out;
    for (std::ptrdiff_t r = 0; call.d_in(0) != nullptr && r < call.rows; ++r) {
      for (int i = 0; i < d.in; ++i) {
        double sum = 0;
        for (int j = 0; j < d.out; ++j) sum += dy[r * d.out + j] * call.in(1)[std::ptrdiff_t(i) * d.out + j];
        detail::put_gradient(call.d_in(0)[r * d.in + i], sum, call.adds_to(0));
      }
    }
    for (int j = 0; j < d.out; ++j) {
      for (int i = 0; i < d.in; ++i) {
        detail::reference_sum(call.rows, call.d_in(1)[std::ptrdiff_t(i) * d.out + j], call.adds_to(1),
                              [&](std::ptrdiff_t r) { return call.in(0)[r * d.in + i] * dy[r * d.out + j]; });
      }
      if (d.option) {
        detail::reference_sum(call.rows, call.d_in(2)[j], call.adds_to(2),
                              [&](std::ptrdiff_t r) { return dy[r * d.out + j]; });
      }
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    run_forward<S>(call, d, worker);
  }
  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    run_backward<S>(call, d, worker);
  }

 private:
  // The same code for all shapes.
  template <class S>
  [[gnu::noinline]] static void run_forward(const Call<typename S::real>& call, const Dims& d, const Worker& worker) {
    product<S, ProductKind::nn>({.m = call.rows,
                                 .n = d.out,
                                 .k = d.in,
                                 .a = call.in(0),
                                 .lda = d.in,
                                 .b = call.in(1),
                                 .ldb = d.out,
                                 .c = call.out,
                                 .ldc = d.out,
                                 .bias = d.option ? call.in(2) : nullptr,
                                 .scratch = call.scratch},
                                                worker);
  }

  template <class S>
  [[gnu::noinline]] static void run_backward(const Call<typename S::real>& call, const Dims& d, const Worker& worker) {
    if (call.d_in(0) != nullptr) {
      product<S, ProductKind::nt>({.m = call.rows,
                                   .n = d.in,
                                   .k = d.out,
                                   .a = call.d_out,
                                   .lda = d.out,
                                   .b = call.in(1),
                                   .ldb = d.out,
                                   .c = call.d_in(0),
                                   .ldc = d.in,
                                   .update = update(call, 0),
                                   .scratch = call.scratch},
                                  worker);
    }
    if (call.scratch != nullptr) worker.barrier();  // the products share their scratch
    if (call.d_in(1) != nullptr) {
      product<S, ProductKind::tn>({.m = d.in,
                                   .n = d.out,
                                   .k = call.rows,
                                   .a = call.in(0),
                                   .lda = d.in,
                                   .b = call.d_out,
                                   .ldb = d.out,
                                   .c = call.d_in(1),
                                   .ldc = d.out,
                                   .update = update(call, 1),
                                   .scratch = call.scratch},
                                  worker);
    }
    if (d.option != 0) detail::sum_rows<S>(call.d_out, call.rows, d.out, call.d_in(2), call.adds_to(2), worker);
  }

  template <class Real>
  THIMBLE_INLINE static Update update(const Call<Real>& call, int k) {
    return call.adds_to(k) ? Update::accumulate : Update::overwrite;
  }
};

/// Appends x [rows, in] times w [in, out], plus bias [out] unless that is kNoValue.
constexpr ValueId linear(TapeBuilder& t, Name name, ValueId x, ValueId w, ValueId bias) {
  const Shape in = t.shape(x);
  const Shape weight = t.shape(w);
  require(weight.kind == RowKind::fixed && weight.fixed_rows == in.cols,
          "linear: the weight [in, out] needs one row per column of x");
  require(bias == kNoValue || detail::is_row_of(t.shape(bias), weight.cols),
          "linear: the bias needs one number per column of the weight");
  Value v = op_value(Linear::name, name, in.with_cols(weight.cols), {x, w, bias});
  v.needs = Needs::operand(0) | Needs::operand(1);
  v.dims = {.in = in.cols, .out = weight.cols, .option = bias == kNoValue ? 0 : 1};
  return t.add(v);
}

}  // namespace thimble
