#pragma once
/// Cases of the ops that treat numbers one by one, and of the sum over them.

#include "core/ops/add.hpp"
#include "core/ops/gelu.hpp"
#include "core/ops/multiply.hpp"
#include "core/ops/relu.hpp"
#include "core/ops/sum.hpp"
#include "core/ops/tanh.hpp"
#include "tests/ops/op_case.hpp"

namespace thimble_test {

using thimble::Init;
using thimble::Shape;
using thimble::TapeBuilder;
using thimble::ValueId;

template <int C>
constexpr ValueId test_input(TapeBuilder& t, const char* name = "x", double scale = 2) {
  return t.input(name, Shape::per_token(C), Init::normal(scale));
}

/// Two values, or one value twice.
template <int C, bool kTwice = false>
struct AddCase {
  using Op = thimble::Add;
  /// One rounding; a third operand (what a gradient adds to) makes it two.
  static constexpr Tolerance tolerance = {.forward = 1, .backward = 2, .of = Tolerance::Of::terms};
  static constexpr void build(TapeBuilder& t) {
    const ValueId a = test_input<C>(t);
    const ValueId b = kTwice ? a : test_input<C>(t, "b");
    thimble::add(t, "y", a, b);
  }
};

template <int C, bool kTwice = false>
struct MultiplyCase {
  using Op = thimble::Multiply;
  /// A product and a sum; twice both where one value is both operands.
  static constexpr Tolerance tolerance = {.forward = 2, .backward = 6, .of = Tolerance::Of::terms};
  static constexpr void build(TapeBuilder& t) {
    const ValueId a = test_input<C>(t);
    const ValueId b = kTwice ? a : test_input<C>(t, "b");
    thimble::multiply(t, "y", a, b);
  }
};

/// One row per token, or kRows rows.
template <int C, int kRows = 0>
struct SumCase {
  using Op = thimble::Sum;
  /// As many roundings as additions on the longest way: columns / 16, the tree's 4, rows.
  static constexpr Tolerance tolerance = {
      .forward = C / 16 + 5 + 15, .backward = 2, .of = Tolerance::Of::terms};
  static constexpr void build(TapeBuilder& t) {
    const Shape shape = kRows > 0 ? Shape::matrix(kRows, C) : Shape::per_token(C);
    thimble::sum(t, "y", t.input("x", shape, Init::normal(2)));
  }
};

template <int C>
struct TanhCase {
  using Op = thimble::Tanh;
  /// Two units in the last place of tanh; 1 - y^2 doubles them, and has four roundings of its own.
  static constexpr Tolerance tolerance = {.forward = 4, .backward = 14, .of = Tolerance::Of::pointwise};
  static constexpr void build(TapeBuilder& t) { thimble::tanh(t, "y", test_input<C>(t)); }
};

template <int C>
struct ReluCase {
  using Op = thimble::Relu;
  /// Exact, but for the sum where a gradient adds.
  static constexpr Tolerance tolerance = {.forward = 0, .backward = 1, .of = Tolerance::Of::pointwise};
  static constexpr void build(TapeBuilder& t) { thimble::relu(t, "y", test_input<C>(t)); }
};

template <int C, thimble::GeluKind kKind>
struct GeluCase {
  using Op = thimble::Gelu;
  /// erf: 1 + erf is off by four roundoffs, and by six more that came to its argument (where its slope times
  /// the argument is at most 1/2); y has |x| / 2 of that, below 3 where 1 + erf has not vanished. tanh: the
  /// argument 2u of exp has five roundings, and 2 |u| |y| of each comes through, below 1/2 of min(|x|, 1).
  /// The derivative has x slope in its second term: at most 2 of the argument's error and of exp's, and a
  /// dozen roundings.
  static constexpr Tolerance tolerance = {.forward = 24, .backward = 48, .of = Tolerance::Of::pointwise};
  static constexpr void build(TapeBuilder& t) { thimble::gelu(t, "y", test_input<C>(t), kKind); }
};

using AddCases = CaseList<AddCase<1>, AddCase<15>, AddCase<16>, AddCase<17>, AddCase<35>, AddCase<17, true>>;
using MultiplyCases = CaseList<MultiplyCase<1>, MultiplyCase<15>, MultiplyCase<16>, MultiplyCase<17>,
                               MultiplyCase<35>, MultiplyCase<17, true>>;
using SumCases =
    CaseList<SumCase<1>, SumCase<15>, SumCase<16>, SumCase<17>, SumCase<35>, SumCase<2, 1>, SumCase<19, 3>>;
using TanhCases = CaseList<TanhCase<1>, TanhCase<15>, TanhCase<16>, TanhCase<17>, TanhCase<35>, TanhCase<37>>;
using ReluCases = CaseList<ReluCase<1>, ReluCase<15>, ReluCase<16>, ReluCase<17>, ReluCase<35>, ReluCase<37>>;
template <thimble::GeluKind kKind>
using GeluCasesOf = CaseList<GeluCase<1, kKind>, GeluCase<15, kKind>, GeluCase<16, kKind>,
                             GeluCase<17, kKind>, GeluCase<35, kKind>, GeluCase<37, kKind>>;
using GeluCases = JoinedCases<GeluCasesOf<thimble::GeluKind::tanh>, GeluCasesOf<thimble::GeluKind::erf>>;
using ElementwiseCases = JoinedCases<AddCases, MultiplyCases, SumCases, TanhCases, ReluCases, GeluCases>;

}  // namespace thimble_test
