#pragma once
/// Cases of the norms.

#include "core/ops/layernorm.hpp"
#include "core/ops/rmsnorm.hpp"
#include "tests/ops/op_case.hpp"

namespace thimble_test {

/// kContext tokens in each of two sequences; over 128 there are two partial sums in the gradients of gain and
/// bias.
template <int C, int kContext = 5>
struct LayerNormCase {
  using Op = thimble::LayerNorm;
  /// mean and variance: C / 16 + 5 roundings each of max|x|, which is a few times 1 / rstd for these rows (C
  /// > 1); backward passes them on through three products and sums over the rows.
  static constexpr Tolerance tolerance = {.forward = C / 8 + 20, .backward = C / 4 + 60 + kContext};
  static constexpr thimble::Extent extent = {2, kContext};
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId x = t.input("x", Shape::per_token(C), Init::normal(2));
    const ValueId gain = t.parameter("gain", Shape::vector(C), Init::constant(1));
    const ValueId bias = t.parameter("bias", Shape::vector(C), Init::constant(0));
    layernorm(t, "y", x, gain, bias, 1e-5);
  }
};

template <int C, bool kGain = true, int kContext = 5>
struct RmsNormCase {
  using Op = thimble::RmsNorm;
  /// The root halves the relative error of the mean square, C / 16 + 5 roundings; nothing cancels in forward.
  /// In backward a single column cancels to eps / x^2 of g / x.
  static constexpr Tolerance tolerance = {
      .forward = C / 32 + 12, .backward = C / 4 + 60 + kContext, .floor = C == 1 ? 1 : 0};
  static constexpr thimble::Extent extent = {2, kContext};
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId x = t.input("x", Shape::per_token(C), C == 1 ? Init::constant(2) : Init::normal(2));
    const ValueId gain = kGain ? t.parameter("gain", Shape::vector(C), Init::constant(1)) : kNoValue;
    rmsnorm(t, "y", x, gain, 1e-5);
  }
};

using LayerNormCases =
    CaseList<LayerNormCase<1>, LayerNormCase<7>, LayerNormCase<15>, LayerNormCase<16>, LayerNormCase<17>,
             LayerNormCase<18>, LayerNormCase<35>, LayerNormCase<19, 140>>;
using RmsNormCases = CaseList<RmsNormCase<1>, RmsNormCase<7>, RmsNormCase<15>, RmsNormCase<16>,
                              RmsNormCase<17>, RmsNormCase<18>, RmsNormCase<35>, RmsNormCase<10, false>,
                              RmsNormCase<35, false>, RmsNormCase<19, true, 140>>;
using NormCases = JoinedCases<LayerNormCases, RmsNormCases>;

}  // namespace thimble_test
