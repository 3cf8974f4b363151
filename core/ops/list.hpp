#pragma once
/// The ops there are. Kernel tables, tests, benchmarks and the printed costs all expand this one list.

#include "core/ops/add.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cross_entropy.hpp"
#include "core/ops/embedding.hpp"
#include "core/ops/gelu.hpp"
#include "core/ops/head.hpp"
#include "core/ops/head_cross_entropy.hpp"
#include "core/ops/history.hpp"
#include "core/ops/layernorm.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/multiply.hpp"
#include "core/ops/positional.hpp"
#include "core/ops/relu.hpp"
#include "core/ops/rmsnorm.hpp"
#include "core/ops/sum.hpp"
#include "core/ops/tanh.hpp"
#include "core/plan/plan.hpp"

namespace thimble {

template <class... Op>
struct OpList {
  static constexpr int size = sizeof...(Op);

  /// Calls f.template operator()<Op>() for the op of that key.
  template <class F>
  static constexpr void visit(std::uint32_t key, F f) {
    (void)((Op::name.hash == key ? (f.template operator()<Op>(), true) : false) || ...);
  }
  template <class F>
  static constexpr void each(F f) {
    (f.template operator()<Op>(), ...);
  }
};

using Ops = OpList<Add, Attention, CrossEntropy, Embedding, Gelu, Head, HeadCrossEntropy, History, LayerNorm,
                   Linear, Multiply, Positional, Relu, RmsNorm, Sum, Tanh>;

constexpr Name op_name(const Value& v) {
  Name name;
  Ops::visit(v.op, [&]<class Op>() { name = Op::name; });
  return name;
}

constexpr Flops op_flops(const Value& v, const Extent& extent) {
  Flops f;
  Ops::visit(v.op, [&]<class Op>() { f = Op::flops(v, extent); });
  return f;
}

/// What a step's kernel needs beside its tensors, for make_plan.
constexpr std::int64_t op_scratch_bytes(const Value& v, StepKind kind, const PlanOptions& options) {
  std::int64_t bytes = 0;
  Ops::visit(v.op, [&]<class Op>() {
    if constexpr (requires { Op::scratch_bytes(v, kind, options); }) bytes = Op::scratch_bytes(v, kind, options);
  });
  return bytes;
}

namespace detail {
template <class T>
struct Type {
  using type = T;
};
template <std::uint32_t key, class Op, class... Rest>
constexpr auto find_op(OpList<Op, Rest...>) {
  if constexpr (Op::name.hash == key) {
    return Type<Op>{};
  } else {
    static_assert(sizeof...(Rest) > 0, "the tape uses an op that is not in core/ops/list.hpp");
    return find_op<key>(OpList<Rest...>{});
  }
}
}  // namespace detail

/// The op with that key.
template <std::uint32_t key>
using OpOf = typename decltype(detail::find_op<key>(Ops{}))::type;

}  // namespace thimble
