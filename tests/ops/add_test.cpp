#include <limits>

#include "tests/ops/elementwise_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Add){};

TEST(Add, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  AddCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Add, TheGradientMatchesDifferences) {
  AddCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Add, DecodingGivesTheBitsOfForward) {
  AddCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Add, InfinitiesAndNaNComeThrough) {
  Problem p = problem_of<AddCase<17>>();
  p.values[0][0] = std::numeric_limits<double>::infinity();
  p.values[0][20] = std::numeric_limits<double>::infinity();
  p.values[1][20] = -std::numeric_limits<double>::infinity();
  p.values[1][33] = std::numeric_limits<double>::quiet_NaN();
  check_kernels(p);
}

}  // namespace
