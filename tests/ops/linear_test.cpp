#include <limits>

#include "tests/ops/linear_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Linear){};

TEST(Linear, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  LinearCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Linear, TheGradientMatchesDifferences) {
  LinearCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Linear, MatchesTorch) {
  check_golden(problem_of<LinearCase<1, 1>>({1, 1}), "linear.r1_i1_o1", {"x", "weight", "bias"});
  check_golden(problem_of<LinearCase<7, 9>>({1, 5}), "linear.r5_i7_o9", {"x", "weight", "bias"});
  check_golden(problem_of<LinearCase<17, 12>>({1, 2}), "linear.r2_i17_o12", {"x", "weight", "bias"});
  check_golden(problem_of<LinearCase<6, 5, false>>({1, 4}), "linear.no_bias", {"x", "weight"});
}

TEST(Linear, DecodingGivesTheBitsOfForward) {
  check_decode<LinearCase<17, 12>>();
  check_decode<LinearCase<35, 16, true, 140>>();
  check_decode<LinearCase<300, 15>>();
}

TEST(Linear, WorkersDoNotPackOverEachOther) {
  const Problem p = problem_of<PackedLinearCase>();
  CHECK(p.scratch_bytes(p.value(), StepKind::backward, {.extent = p.most, .workers = 3}) > 0);
  for (const auto& i : implementations_of<float>(p)) {
    if (std::string(i.name).starts_with("plain")) continue;  // packs nothing
    const auto alone = thimble_test::run(p, i.kernels);
    for (int repeat = 0; repeat < 10; ++repeat) {
      detail::expect_same(i.name, thimble_test::run(p, i.kernels, {.workers = 3}), alone);
    }
  }
}

TEST(Linear, ANaNSpoilsWhatReadsItAndNothingElse) {
  Problem p = problem_of<LinearCase<16, 35>>();
  p.values[0][16 + 5] = std::numeric_limits<double>::quiet_NaN();
  check_kernels(p);
  const auto r = thimble_test::run(p, p.reference);
  CHECK(std::isnan(r.out[35]));
  CHECK(std::isfinite(r.out[0]));
}

}  // namespace
