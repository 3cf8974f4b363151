#pragma once
/// Cases of the output head, of cross-entropy, and of both in one.

#include "core/ops/cross_entropy.hpp"
#include "core/ops/head.hpp"
#include "core/ops/head_cross_entropy.hpp"
#include "tests/ops/op_case.hpp"

namespace thimble_test {

constexpr int larger(int a, int b) {
  return a > b ? a : b;
}

/// kContext tokens in each of two sequences.
template <int V, int C, int kContext = 5>
struct HeadCase {
  using Op = thimble::Head;
  /// A chain of C terms has C + 1 roundings, twice as many where products round by themselves; dx has V
  /// terms, d_table one per row.
  static constexpr Tolerance tolerance = {
      .forward = 2 * C + 2, .backward = 2 * larger(V, 2 * kContext) + 3, .of = Tolerance::Of::terms};
  static constexpr thimble::Extent extent = {2, kContext};
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId x = t.input("x", Shape::per_token(C), Init::normal(1));
    head(t, "y", x, t.parameter("table", Shape::matrix(V, C), Init::normal(0.5)));
  }
};

template <int V, int kContext = 5>
struct CrossEntropyCase {
  using Op = thimble::CrossEntropy;
  /// The sum of V exponentials has V / 16 + 4 roundings, and each exponential an error of two units and up to
  /// ten for the difference in its argument (logits lie within ten of each other, the largest loss is above
  /// one).
  static constexpr Tolerance tolerance = {.forward = V / 16 + 20, .backward = V / 16 + 24};
  static constexpr thimble::Extent extent = {2, kContext};
  static constexpr int ids_below = V;
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId logits = t.input("logits", Shape::per_token(V), Init::normal(1.5));
    cross_entropy(t, "y", logits, t.ids("targets"));
  }
};

template <int V, int C, int kTileRows, int kContext = 5>
struct HeadCrossEntropyCase {
  using Op = thimble::HeadCrossEntropy;
  /// Logits are off by up to 2 C + 2 units of sum |x| |table|, which is below C / 2; the loss doubles that
  /// and adds what cross_entropy adds.
  static constexpr Tolerance tolerance = {
      .forward = C * (C + 1) * 2 + V / 16 + 20,
      .backward = C * (C + 1) * 2 + V / 16 + 24 + 2 * larger(V, 2 * kContext)};
  static constexpr thimble::Extent extent = {2, kContext};
  static constexpr int ids_below = V;
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId x = t.input("x", Shape::per_token(C), Init::normal(1));
    const ValueId table = t.parameter("table", Shape::matrix(V, C), Init::normal(0.5));
    head_cross_entropy(t, "y", x, table, t.ids("targets"), kTileRows);
  }
};

using PlainHeadCases = CaseList<HeadCase<1, 1>, HeadCase<11, 6>, HeadCase<17, 8>, HeadCase<27, 16>,
                                HeadCase<65, 15>, HeadCase<300, 35>, HeadCase<19, 17, 140>>;
using CrossEntropyCases =
    CaseList<CrossEntropyCase<1>, CrossEntropyCase<2>, CrossEntropyCase<5>, CrossEntropyCase<11>,
             CrossEntropyCase<15>, CrossEntropyCase<16>, CrossEntropyCase<17>, CrossEntropyCase<27>,
             CrossEntropyCase<65>, CrossEntropyCase<300>, CrossEntropyCase<19, 140>>;
using HeadCrossEntropyCases =
    CaseList<HeadCrossEntropyCase<1, 1, 3>, HeadCrossEntropyCase<11, 6, 10>, HeadCrossEntropyCase<17, 8, 4>,
             HeadCrossEntropyCase<27, 16, 1>, HeadCrossEntropyCase<65, 15, 7>,
             HeadCrossEntropyCase<300, 35, 64>, HeadCrossEntropyCase<19, 17, 256, 140>>;
/// GPT-2's vocabulary: too large for every check.
using LargeCrossEntropyCase = CrossEntropyCase<50257, 1>;
using LargeHeadCrossEntropyCase = HeadCrossEntropyCase<50257, 2, 1, 1>;
using HeadCases = JoinedCases<PlainHeadCases, CrossEntropyCases, HeadCrossEntropyCases,
                              CaseList<LargeCrossEntropyCase, LargeHeadCrossEntropyCase>>;

}  // namespace thimble_test
