#include <limits>

#include "tests/ops/elementwise_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Sum){};

TEST(Sum, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  SumCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Sum, TheGradientMatchesDifferences) {
  SumCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Sum, ALargeOffsetLosesOnlyItsOwnRoundings) {
  Problem p = problem_of<SumCase<35>>();
  for (double& x : p.values[0]) x = float(x + 1e6);
  check_kernels(p);
}

TEST(Sum, ANaNAnywhereIsTheSum) {
  for (const std::size_t i : {0, 16, 34, 69}) {
    Problem p = problem_of<SumCase<35>>();
    p.values[0][i] = std::numeric_limits<double>::quiet_NaN();
    check_kernels(p);
    CHECK(std::isnan(thimble_test::run(p, p.reference).out[0]));
  }
}

}  // namespace
