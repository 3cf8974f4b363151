#pragma once
/// y = a * b, element by element.
///
/// Backward reads both operands: da = dy * b, db = dy * a. Each overwrites or adds; where both operands are
/// one value, the second adds to what the first left. One rounding, and one more where a gradient adds.
/// Aliasing: none. Dims: in = columns.

#include "core/ops/elements.hpp"

namespace thimble {

struct Multiply {
  static constexpr Name name{"multiply"};

  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t n = v.shape.count(extent);
    return {n, 2 * n};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) call.out[i] = call.in(0)[i] * call.in(1)[i];
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (int k = 0; k < 2; ++k) {
      if (call.d_in(k) == nullptr) continue;
      for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) {
        detail::put_gradient(call.d_in(k)[i], call.d_out[i] * call.in(1 - k)[i], call.adds_to(k));
      }
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    detail::for_elements<S>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
      at.store(call.out, at.load(call.in(0)) * at.load(call.in(1)));
    });
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    for (int k = 0; k < 2; ++k) {
      typename S::real* const dx = call.d_in(k);
      if (dx == nullptr) continue;
      const typename S::real* const other = call.in(1 - k);
      detail::for_elements<S>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
        detail::put_gradient<S>(at, dx, at.load(call.d_out) * at.load(other), call.adds_to(k));
      });
    }
  }
};

/// Appends a * b, element by element. Both have the same rows and columns.
constexpr ValueId multiply(TapeBuilder& t, Name name, ValueId a, ValueId b) {
  require(detail::same_size(t.shape(a), t.shape(b)),
          "multiply: both operands need the same rows and columns");
  Value v = op_value(Multiply::name, name, t.shape(a), {a, b});
  v.needs = Needs::operand(0) | Needs::operand(1);
  v.dims.in = v.shape.cols;
  return t.add(v);
}

}  // namespace thimble
