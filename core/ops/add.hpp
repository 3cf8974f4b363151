#pragma once
/// y = a + b, element by element: the residual stream.
///
/// Backward reads nothing: da = dy, db = dy, so their storage may be dy's own. Each overwrites or adds; where
/// both operands are one value, the second adds to what the first left. One rounding. Aliasing: da and db may
/// be dy, out of place otherwise. Dims: in = columns.

#include "core/ops/elements.hpp"

namespace thimble {

struct Add {
  static constexpr Name name{"add"};

  static constexpr Flops flops(const Value& v, const Extent& extent) { return {v.shape.count(extent), 0}; }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) call.out[i] = call.in(0)[i] + call.in(1)[i];
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (int k = 0; k < 2; ++k) {
      if (call.d_in(k) == nullptr) continue;
      for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) {
        detail::put_gradient(call.d_in(k)[i], call.d_out[i], call.adds_to(k));
      }
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
#if THIMBLE_ARM_FPU
    if constexpr (detail::kHasArmFpu<typename S::Vec> && d.in % 8 == 0) {
      const Range mine = detail::element_share(call, d.in, worker);
      const std::ptrdiff_t b = mine.begin;
      if (mine.size() > 0) {
        detail::arm_add_rows(call.out + b, 32, call.in(0) + b, 32, call.in(1) + b, 32, mine.size() / 8);
      }
      return;
    }
#endif
    detail::for_elements<S, d.in>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
      at.store(call.out, at.load(call.in(0)) + at.load(call.in(1)));
    });
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    for (int k = 0; k < 2; ++k) {
      typename S::real* const dx = call.d_in(k);
      const bool adds = call.adds_to(k);
      if (dx == nullptr || (dx == call.d_out && !adds)) continue;
      detail::for_elements<S, d.in>(detail::element_share(call, d.in, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
        detail::put_gradient<S>(at, dx, at.load(call.d_out), adds);
      });
    }
  }
};

/// Appends a + b. Both have the same rows and columns.
constexpr ValueId add(TapeBuilder& t, Name name, ValueId a, ValueId b) {
  require(detail::same_size(t.shape(a), t.shape(b)), "add: both operands need the same rows and columns");
  Value v = op_value(Add::name, name, t.shape(a), {a, b});
  v.reverse = Reverse::identity;
  v.dims.in = v.shape.cols;
  return t.add(v);
}

}  // namespace thimble
