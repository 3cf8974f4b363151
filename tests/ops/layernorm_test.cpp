#include <limits>

#include "tests/ops/norm_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(LayerNorm){};

TEST(LayerNorm, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  LayerNormCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(LayerNorm, TheGradientMatchesDifferences) {
  LayerNormCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(LayerNorm, DecodingGivesTheBitsOfForward) {
  LayerNormCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(LayerNorm, MatchesTorch) {
  check_golden(problem_of<LayerNormCase<7>>({1, 3}), "layernorm.c7", {"x", "gain", "bias"});
  check_golden(problem_of<LayerNormCase<35>>({1, 2}), "layernorm.c35", {"x", "gain", "bias"});
}

TEST(LayerNorm, ALargeOffsetCostsOnlyTheRoundingsOfTheOffset) {
  // The mean has 6 roundings of 1000, and rstd is about 0.9: some 5,000 unit roundoffs of the largest output,
  // 2.6, and about five times that in the gradients. E[x^2] - mean^2 would be off by 500,000.
  Problem p = problem_of<LayerNormCase<18>>({1, 2});
  p.tolerance.forward = 2500;
  p.tolerance.backward = 12500;
  check_golden(p, "layernorm.offset", {"x", "gain", "bias"});
}

TEST(LayerNorm, ANonFiniteNumberSpoilsItsOwnRowAlone) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Problem p = problem_of<LayerNormCase<17>>();
    p.values[0][17 + 16] = bad;
    for (const auto& i : implementations_of<float>(p)) {
      const auto r = thimble_test::run(p, i.kernels);
      CHECK(std::isnan(r.out[17 + 16]));
      for (std::size_t j = 0; j < r.out.size(); ++j) {
        if (j / 17 != 1) CHECK(std::isfinite(r.out[j]) && std::isfinite(r.gradients[0][j]));
      }
    }
    check_kernels(p);
  }
}

TEST(LayerNorm, ARowOfZerosIsFinite) {
  Problem p = problem_of<LayerNormCase<16>>();
  for (std::size_t i = 16; i < 32; ++i) p.values[0][i] = 0;
  check_kernels(p);
  const auto r = thimble_test::run(p, p.reference);
  for (const double g : r.gradients[0]) CHECK(std::isfinite(g));
}

}  // namespace
