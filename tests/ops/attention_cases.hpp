#pragma once
/// Cases of attention.

#include "core/ops/attention.hpp"
#include "tests/ops/op_case.hpp"

namespace thimble_test {

/// Heads of kWidth / kHeads columns; kBatch sequences of at most kContext tokens.
template <int kWidth, int kHeads, int kContext, int kBatch = 1>
struct AttentionCase {
  using Op = thimble::Attention;
  /// A score is a chain of D roundings of |q||k|, which exp hands on to the weights; sums over tokens are T
  /// roundings. Roundings seldom agree in sign: an eighth of the worst case. Backward goes that way twice.
  static constexpr int kRoundings = kWidth / kHeads + kContext;
  static constexpr Tolerance tolerance = {.forward = 3 + kRoundings / 8, .backward = 6 + kRoundings / 4};
  static constexpr thimble::Extent extent = {kBatch, kContext};
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    attention(t, "y", t.input("qkv", Shape::per_token(3 * kWidth), Init::normal(1)), kHeads);
  }
};

/// Heads of 1, 2, 3, 4, 8, 16, 40 and 64 columns; sequences of one block, of several, and of heads that are
/// copied.
using AttentionCases =
    CaseList<AttentionCase<3, 3, 9, 2>, AttentionCase<4, 2, 5>, AttentionCase<6, 2, 33, 2>,
             AttentionCase<3, 1, 200>, AttentionCase<12, 3, 17, 3>, AttentionCase<16, 4, 16, 2>,
             AttentionCase<16, 2, 65>, AttentionCase<48, 3, 64, 2>, AttentionCase<80, 2, 33>,
             AttentionCase<64, 1, 130>>;

}  // namespace thimble_test
