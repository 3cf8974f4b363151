#include <limits>

#include "tests/ops/norm_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(RmsNorm){};

TEST(RmsNorm, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  RmsNormCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(RmsNorm, TheGradientMatchesDifferences) {
  RmsNormCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(RmsNorm, DecodingGivesTheBitsOfForward) {
  RmsNormCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(RmsNorm, MatchesTorch) {
  check_golden(problem_of<RmsNormCase<7>>({1, 3}), "rmsnorm.c7", {"x", "gain"});
  check_golden(problem_of<RmsNormCase<35>>({1, 2}), "rmsnorm.c35", {"x", "gain"});
}

TEST(RmsNorm, WithoutGainMatchesTorch) {
  check_golden(problem_of<RmsNormCase<10, false>>({1, 3}), "rmsnorm.no_gain", {"x"});
}

TEST(RmsNorm, ALargeOffsetCostsNothingInForward) {
  // The gradient is g - n mean(g n) with n near 1: what is left after cancelling is about as large as g.
  check_golden(problem_of<RmsNormCase<18>>({1, 2}), "rmsnorm.offset", {"x", "gain"});
}

TEST(RmsNorm, ANonFiniteNumberSpoilsItsOwnRowAlone) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Problem p = problem_of<RmsNormCase<17>>();
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

TEST(RmsNorm, ARowOfZerosIsFinite) {
  Problem p = problem_of<RmsNormCase<16>>();
  for (std::size_t i = 16; i < 32; ++i) p.values[0][i] = 0;
  check_kernels(p);
  const auto r = thimble_test::run(p, p.reference);
  for (const double g : r.gradients[0]) CHECK(std::isfinite(g));
}

}  // namespace
