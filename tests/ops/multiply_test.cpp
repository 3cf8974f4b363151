#include <limits>

#include "tests/ops/elementwise_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Multiply){};

TEST(Multiply, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  MultiplyCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Multiply, TheGradientMatchesDifferences) {
  MultiplyCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Multiply, DecodingGivesTheBitsOfForward) {
  MultiplyCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Multiply, AZeroDoesNotHideANaN) {
  Problem p = problem_of<MultiplyCase<17>>();
  p.values[0][3] = 0;
  p.values[1][3] = std::numeric_limits<double>::quiet_NaN();
  p.values[0][40] = 0;
  p.values[1][40] = std::numeric_limits<double>::infinity();
  check_kernels(p);
  CHECK(std::isnan(thimble_test::run(p, p.reference).out[3]));
  CHECK(std::isnan(thimble_test::run(p, p.reference).out[40]));
}

}  // namespace
