#pragma once
/// Cases of the linear layer.

#include "core/ops/linear.hpp"
#include "tests/ops/op_case.hpp"

namespace thimble_test {

/// kContext tokens in each of two sequences, or kRows fixed rows.
template <int K, int N, bool kBias = true, int kContext = 5, int kRows = 0>
struct LinearCase {
  using Op = thimble::Linear;
  static constexpr int most(int a, int b) { return a > b ? a : b; }
  /// A chain of K terms has K + 1 roundings (twice as many where products round by themselves), dx has N, dW
  /// and db one per row.
  static constexpr Tolerance tolerance = {
      .forward = 2 * K + 2, .backward = 2 * most(N, 2 * kContext) + 3, .of = Tolerance::Of::terms};
  static constexpr thimble::Extent extent = {2, kContext};
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const Shape shape = kRows > 0 ? Shape::matrix(kRows, K) : Shape::per_token(K);
    const ValueId x = t.input("x", shape, Init::normal(1));
    const ValueId w = t.parameter("weight", Shape::matrix(K, N), Init::normal(0.5));
    const ValueId bias = kBias ? t.parameter("bias", Shape::vector(N), Init::normal(0.5)) : kNoValue;
    linear(t, "y", x, w, bias);
  }
};

using LinearCases = CaseList<LinearCase<1, 1>, LinearCase<7, 9>, LinearCase<17, 12>, LinearCase<6, 5, false>,
                             LinearCase<16, 35>, LinearCase<35, 16, true, 140>, LinearCase<300, 15>,
                             LinearCase<2, 3, true, 5, 1>>;

/// All its products pack their operands into scratch memory, each another amount, and take few operations.
using PackedLinearCase = LinearCase<32768, 16, true, 8>;
using AllLinearCases = JoinedCases<LinearCases, CaseList<PackedLinearCase>>;

}  // namespace thimble_test
