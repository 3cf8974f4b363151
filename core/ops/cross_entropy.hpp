#pragma once
/// The loss per token, from logits [tokens, V] and target ids [tokens]:
///   loss_r = -log softmax(logits_r)[target_r], 0 where the target is ignored (-1)
///
/// Backward reads both operands and computes the losses as well: training runs no forward step of this op.
/// d_logits is that of the SUM of the losses; whoever wants the mean divides once, by the number of valid
/// targets. It overwrites or adds.
/// Order of sums: core/ops/softmax_loss.hpp. Aliasing: none. Decoding passes the logits on.
/// Dims: out = V.

#include "core/ops/softmax_loss.hpp"

namespace thimble {

namespace detail {

/// One row in plain double.
inline auto loss_reference(const Call<double>& call, Dims d, std::ptrdiff_t r) {
  const double* row = call.in(0) + r * d.out;
  return SoftmaxLossReference([row](std::ptrdiff_t j) { return row[j]; }, d.out, call.ids(1)[r]);
}

}  // namespace detail

struct CrossEntropy {
  static constexpr Name name{"cross_entropy"};

  /// Maximum, difference, exponential and sum count as one each, and the scaling in backward as one more.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t logits = v.shape.rows(extent) * v.dims.out;
    return {4 * logits, 5 * logits};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) call.out[r] = detail::loss_reference(call, d, r).loss();
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      const auto row = detail::loss_reference(call, d, r);
      call.out[r] = row.loss();
      for (std::ptrdiff_t j = 0; call.d_in(0) != nullptr && j < d.out; ++j) {
        double& g = call.d_in(0)[r * d.out + j];
        g = (call.adds_to(0) ? g : 0) + row.gradient(j);
      }
    }
  }

  template <class S, Dims kDims>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    const Range rows = worker.share(call.rows);
    for (std::ptrdiff_t r = rows.begin; r < rows.end; ++r) {
      call.out[r] = detail::SoftmaxLoss<S>::loss(call.in(0) + r * kDims.out, kDims.out, call.ids(1)[r]);
    }
  }

  template <class S, Dims kDims>
  static void decode(const Call<typename S::real>& call, const Worker& worker) {
    const Range part = worker.share(call.rows * kDims.out, 64);
    for (std::ptrdiff_t i = part.begin; i < part.end; ++i) call.out[i] = call.in(0)[i];
  }

  template <class S, Dims kDims>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    if (call.d_in(0) == nullptr) return forward<S, kDims>(call, worker);
    const Range rows = worker.share(call.rows);
    for (std::ptrdiff_t r = rows.begin; r < rows.end; ++r) {
      const auto* logits = call.in(0) + r * kDims.out;
      auto* d_logits = call.d_in(0) + r * kDims.out;
      const auto target = call.ids(1)[r];
      call.out[r] = call.adds_to(0)
                        ? detail::SoftmaxLoss<S>::loss_and_added_gradient(logits, kDims.out, target, d_logits)
                        : detail::SoftmaxLoss<S>::loss_and_gradient(logits, kDims.out, target, d_logits);
    }
  }
};

/// Appends the losses [tokens, 1] of logits [tokens, V]. `targets` are ids in 0..V-1, or -1 for "ignored".
constexpr ValueId cross_entropy(TapeBuilder& t, Name name, ValueId logits, ValueId targets) {
  const Shape in = t.shape(logits);
  require(in.kind == RowKind::tokens, "cross_entropy needs one row of logits per token");
  require(t.value(targets).role == Role::ids, "the targets of cross_entropy are ids");
  Value v = op_value(CrossEntropy::name, name, Shape::per_token(1), {logits, targets});
  v.reverse = Reverse::loss;
  v.dims.out = in.cols;
  v.decode_cols = in.cols;
  v.needs = Needs::operand(0) | Needs::operand(1);
  return t.add(v);
}

}  // namespace thimble
