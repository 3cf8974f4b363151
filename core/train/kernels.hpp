#pragma once
/// Kernel tables: which function computes each value of a model, for one number type and instruction set.

#include "core/ops/list.hpp"
#include "core/train/optimizer.hpp"

namespace thimble {

template <class real>
using Kernel = void (*)(const Call<real>&, const Worker&);

/// The kernels of one value.
template <class real>
struct OpKernels {
  Kernel<real> forward = nullptr;
  Kernel<real> backward = nullptr;
  Kernel<real> decode = nullptr;

  constexpr Kernel<real> operator[](StepKind k) const {
    return k == StepKind::backward ? backward : k == StepKind::decode ? decode : forward;
  }
};

namespace detail {

template <class Op, Dims d, bool is_backward>
void run_reference(const Call<double>& call, const Worker& worker) {
  if (worker.index != 0) return;
  if constexpr (is_backward) {
    Op::backward_ref(call, d);
  } else {
    Op::forward_ref(call, d);
  }
}

template <class S, std::uint32_t key, Dims d>
constexpr OpKernels<typename S::real> op_kernels() {
  using Op = OpOf<key>;
  if constexpr (std::is_same_v<S, Reference>) {
    return {run_reference<Op, d, false>, run_reference<Op, d, true>, nullptr};
  } else if constexpr (requires { &Op::template decode<S, d>; }) {
    return {Op::template forward<S, d>, Op::template backward<S, d>, Op::template decode<S, d>};
  } else {
    return {Op::template forward<S, d>, Op::template backward<S, d>, Op::template forward<S, d>};
  }
}

template <class Model, class S>
constexpr auto make_kernels() {
  constexpr int n = tape_of<Model>.size;
  std::array<OpKernels<typename S::real>, std::size_t(n)> table = {};
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (
        [&] {
          constexpr const Value& v = tape_of<Model>.values[i];
          if constexpr (!v.is_leaf()) table[i] = op_kernels<S, v.op, v.dims>();
        }(),
        ...);
  }(std::make_index_sequence<std::size_t(n)>{});
  return table;
}

}  // namespace detail

/// The kernels of every value of a model's tape; S is a Simd, or Reference.
template <class Model, class S>
inline constexpr auto kernels_of = detail::make_kernels<Model, S>();

}  // namespace thimble
