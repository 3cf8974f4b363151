#pragma once
/// y = max(x, 0), element by element. NaN stays NaN.
///
/// Backward reads the output: dx = 0 where y <= 0, else dy (so 0 at x = 0, and dy where x is NaN: torch's
/// rule). It overwrites or adds. Exact. Aliasing: dx may be dy. Dims: in = columns.

#include "core/ops/elements.hpp"

namespace thimble {

struct Relu {
  static constexpr Name name{"relu"};

  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t n = v.shape.count(extent);
    return {n, n};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) call.out[i] = call.in(0)[i] < 0 ? 0 : call.in(0)[i];
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) {
      detail::put_gradient(call.d_in(0)[i], call.out[i] <= 0 ? 0 : call.d_out[i], call.adds_to(0));
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    const auto zero = S::Vec::broadcast(0);
    detail::for_elements<S>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
      at.store(call.out,
               maximum(zero, at.load(call.in(0))));  // a NaN is the second operand: it comes through
    });
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    if (call.d_in(0) == nullptr) return;
    const auto zero = S::Vec::broadcast(0);
    detail::for_elements<S>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
      const auto g = select(at.load(call.out) <= zero, zero, at.load(call.d_out));
      detail::put_gradient<S>(at, call.d_in(0), g, call.adds_to(0));
    });
  }
};

/// Appends max(x, 0).
constexpr ValueId relu(TapeBuilder& t, Name name, ValueId x) {
  Value v = op_value(Relu::name, name, t.shape(x), {x});
  v.reverse = Reverse::in_place;
  v.needs = Needs::output();
  v.dims.in = v.shape.cols;
  return t.add(v);
}

}  // namespace thimble
