#include <limits>

#include "tests/ops/elementwise_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Tanh){};

TEST(Tanh, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  TanhCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Tanh, TheGradientMatchesDifferences) {
  TanhCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Tanh, DecodingGivesTheBitsOfForward) {
  TanhCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Tanh, MatchesTorch) {
  check_golden(problem_of<TanhCase<37>>({1, 1}), "tanh.n37", {"x"});
}

TEST(Tanh, HasItsLimitsAtInfinityAndKeepsNaN) {
  Problem p = problem_of<TanhCase<17>>({1, 1});
  p.values[0][0] = std::numeric_limits<double>::infinity();
  p.values[0][1] = -std::numeric_limits<double>::infinity();
  p.values[0][2] = 1e30f;
  p.values[0][16] = std::numeric_limits<double>::quiet_NaN();
  check_kernels(p);
  const auto r = thimble_test::run(p, p.reference);
  CHECK_EQUAL(1.0, r.out[0]);
  CHECK_EQUAL(-1.0, r.out[1]);
  CHECK_EQUAL(0.0, r.gradients[0][2]);
  CHECK(std::isnan(r.out[16]));
}

TEST(Tanh, TheGradientKeepsItsDigitsWhereTheFunctionIsFlat) {
  // y = tanh(10) in double is 1 - 4.12e-9: 1 - y^2 rounded to 1 first would lose half of its digits.
  Problem p = problem_of<TanhCase<1>>({1, 1});
  p.values[0][0] = 10;
  p.d_out[0] = 1;
  for (const auto& i : implementations_of<double>(p)) {
    const double y = 1 - 4.1223072448771156e-9;
    const double exact = (1 - y) * (1 + y);
    DOUBLES_EQUAL(exact, thimble_test::run(p, i.kernels).gradients[0][0], 1e-15 * exact + 2.3e-16 * 2);
  }
}

}  // namespace
