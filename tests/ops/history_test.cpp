#include <limits>

#include "tests/ops/op_test.hpp"
#include "tests/ops/token_cases.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(History){};

TEST(History, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  HistoryCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(History, TheGradientMatchesDifferences) {
  HistoryCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(History, DecodingGivesTheBitsOfForward) {
  HistoryCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(History, MatchesTorch) {
  check_golden(problem_of<HistoryCase<1, 3>>({2, 5}), "history.n1", {"x"});
  check_golden(problem_of<HistoryCase<4, 3>>({2, 5}), "history.n4", {"x"});
}

TEST(History, NothingPassesFromOneSequenceToTheNext) {
  Problem p = problem_of<HistoryCase<4, 3>>({2, 5});
  const auto before = thimble_test::run(p, p.reference);
  for (std::size_t i = 0; i < 15; ++i) p.values[0][i] *= 2;
  const auto after = thimble_test::run(p, p.reference);
  for (std::size_t i = 60; i < 120; ++i) CHECK_EQUAL(before.out[i], after.out[i]);
  check_kernels(p);
}

}  // namespace
