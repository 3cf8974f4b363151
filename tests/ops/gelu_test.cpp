#include <limits>

#include "tests/ops/elementwise_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Gelu){};

TEST(Gelu, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  GeluCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Gelu, TheGradientMatchesDifferences) {
  GeluCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Gelu, DecodingGivesTheBitsOfForward) {
  GeluCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Gelu, MatchesTorch) {
  check_golden(problem_of<GeluCase<37, thimble::GeluKind::tanh>>({1, 1}), "gelu_tanh.n37", {"x"});
  check_golden(problem_of<GeluCase<37, thimble::GeluKind::erf>>({1, 1}), "gelu_erf.n37", {"x"});
}

TEST(Gelu, TheTwoFormsDifferByMoreThanRounding) {
  const Problem with_tanh = problem_of<GeluCase<1, thimble::GeluKind::tanh>>({1, 1});
  const Problem with_erf = problem_of<GeluCase<1, thimble::GeluKind::erf>>({1, 1});
  const double difference = thimble_test::run(with_tanh, with_tanh.reference).out[0] -
                            thimble_test::run(with_erf, with_erf.reference).out[0];
  CHECK(std::fabs(difference) > 1e-6);
}

template <thimble::GeluKind kKind>
void check_far_out() {
  Problem p = problem_of<GeluCase<17, kKind>>({1, 1});
  const double far[] = {20, -20, 1e10, -1e10, 1e30, -1e30, 3e38, -3e38};
  for (std::size_t i = 0; i < 8; ++i) p.values[0][9 + i] = float(far[i]);
  check_kernels(p);
  for (const auto& i : implementations_of<float>(p)) {
    const auto r = thimble_test::run(p, i.kernels);
    for (std::size_t j = 9; j < 17; j += 2) {
      CHECK_EQUAL(float(p.values[0][j]), r.out[j]);
      CHECK_EQUAL(float(p.d_out[j]), r.gradients[0][j]);
      CHECK_EQUAL(0.0f, r.out[j + 1]);
      CHECK_EQUAL(0.0f, r.gradients[0][j + 1]);
    }
  }
}

TEST(Gelu, FarOutItIsXOrZeroWithNothingLostToOverflow) {
  check_far_out<thimble::GeluKind::tanh>();
  check_far_out<thimble::GeluKind::erf>();
}

template <thimble::GeluKind kKind>
void check_near_zero() {
  Problem p = problem_of<GeluCase<17, kKind>>({1, 1});
  const double tiny[] = {0, -0.0, 0x1p-149, -0x1p-149, 0x1.8p-148, 0x1p-126, -1e-30, 1e-23, -1e-20};
  for (std::size_t i = 0; i < 9; ++i) p.values[0][8 + i] = tiny[i];
  for (const auto& i : implementations_of<float>(p)) {
    const auto r = thimble_test::run(p, i.kernels);
    for (std::size_t j = 8; j < 17; ++j) CHECK_EQUAL(float(p.d_out[j]) * 0.5f, r.gradients[0][j]);
  }
}

TEST(Gelu, TheSlopeIsAHalfWhereTheSquareOfXIsNothing) {
  check_near_zero<thimble::GeluKind::tanh>();
  check_near_zero<thimble::GeluKind::erf>();
}

TEST(Gelu, KeepsNaN) {
  Problem p = problem_of<GeluCase<17, thimble::GeluKind::tanh>>({1, 1});
  p.values[0][0] = p.values[0][16] = std::numeric_limits<double>::quiet_NaN();
  check_kernels(p);
  const auto r = thimble_test::run(p, p.reference);
  CHECK(std::isnan(r.out[16]));
  CHECK(std::isnan(r.gradients[0][16]));
}

}  // namespace
