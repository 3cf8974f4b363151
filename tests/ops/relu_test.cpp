#include <limits>

#include "tests/ops/elementwise_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Relu){};

TEST(Relu, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  ReluCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Relu, TheGradientMatchesDifferences) {
  ReluCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Relu, DecodingGivesTheBitsOfForward) {
  ReluCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Relu, MatchesTorch) {
  check_golden(problem_of<ReluCase<37>>({1, 1}), "relu.n37", {"x"});
}

TEST(Relu, KeepsNaNAndPassesItsGradient) {
  Problem p = problem_of<ReluCase<17>>({1, 1});
  for (const std::size_t i : {0, 16}) {
    p.values[0][i] = std::numeric_limits<double>::quiet_NaN();
    p.d_out[i] = 3;
  }
  check_kernels(p);
  for (const auto& i : implementations_of<float>(p)) {
    const auto r = thimble_test::run(p, i.kernels);
    CHECK(std::isnan(r.out[0]));
    CHECK(std::isnan(r.out[16]));
    CHECK_EQUAL(3.0f, r.gradients[0][0]);
    CHECK_EQUAL(3.0f, r.gradients[0][16]);
  }
}

TEST(Relu, TheGradientAtZeroIsZero) {
  Problem p = problem_of<ReluCase<16>>({1, 1});
  p.values[0][2] = 0;
  p.values[0][3] = -0.0;
  check_kernels(p);
  const auto r = thimble_test::run(p, p.reference);
  CHECK_EQUAL(0.0, r.gradients[0][2]);
  CHECK_EQUAL(0.0, r.gradients[0][3]);
}

}  // namespace
