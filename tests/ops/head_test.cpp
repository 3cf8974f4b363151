#include "tests/ops/head_cases.hpp"
#include "tests/ops/op_test.hpp"

using namespace thimble_test;

TEST_GROUP(Head){};

TEST(Head, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  PlainHeadCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Head, TheGradientMatchesDifferences) {
  PlainHeadCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Head, DecodingGivesTheBitsOfForward) {
  PlainHeadCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Head, MatchesTorch) {
  check_golden(problem_of<HeadCase<11, 6>>({1, 4}), "head.r4_c6_v11", {"x", "weight"});
}

TEST(Head, CostsTwoOperationsATermForwardAndTwiceThatBackward) {
  const auto f = thimble::Head::flops(value_of<HeadCase<27, 16>>, {3, 7});
  LONGS_EQUAL(2 * 21 * 27 * 16, f.forward);
  LONGS_EQUAL(4 * 21 * 27 * 16, f.backward);
}
