#pragma once
/// y = tanh(x), element by element.
///
/// Backward reads the output: dx = dy * ((1 - y) * (1 + y)), which keeps its digits where 1 - y^2 cancels.
/// It overwrites or adds. Error: that of core/simd/functions.hpp; 4 roundings in backward. Aliasing: dx may
/// be dy. Dims: in = columns.

#include "core/ops/elements.hpp"
#include "core/simd/functions.hpp"

namespace thimble {

struct Tanh {
  static constexpr Name name{"tanh"};

  /// A tanh counts as one.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t n = v.shape.count(extent);
    return {n, 4 * n};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) {
      call.out[i] = detail::reference_of(call.in(0)[i], [](auto x) { return thimble::tanh(x); });
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) {
      const double y = call.out[i];
      detail::put_gradient(call.d_in(0)[i], call.d_out[i] * ((1 - y) * (1 + y)), call.adds_to(0));
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    detail::for_elements<S>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
      at.store(call.out, thimble::tanh(at.load(call.in(0))));
    });
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    if (call.d_in(0) == nullptr) return;
    const auto one = S::Vec::broadcast(1);
    detail::for_elements<S>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
      const auto y = at.load(call.out);
      const auto g = at.load(call.d_out) * ((one - y) * (one + y));
      detail::put_gradient<S>(at, call.d_in(0), g, call.adds_to(0));
    });
  }
};

/// Appends tanh(x).
constexpr ValueId tanh(TapeBuilder& t, Name name, ValueId x) {
  Value v = op_value(Tanh::name, name, t.shape(x), {x});
  v.reverse = Reverse::in_place;
  v.needs = Needs::output();
  v.dims.in = v.shape.cols;
  return t.add(v);
}

}  // namespace thimble
