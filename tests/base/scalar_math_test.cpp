/// Scalar functions against the library's in long double, in units in the last place.

#include <cmath>
#include <random>

#include "core/base/scalar_math.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble;

namespace {

constexpr int kSamples = 300000;

double ulps(double ours, long double exact) {
  const double nearest = double(exact);
  const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
  return double(std::fabs((long double)ours - exact)) / unit;
}

template <class F, class Exact>
double worst(double low, double high, F f, Exact exact) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> draw(low, high);
  double w = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double x = draw(random);
    w = std::max(w, ulps(f(x), exact((long double)x)));
  }
  return w;
}

// The same at compile time.
static_assert(scalar_sqrt(2.0) == 1.4142135623730951 && scalar_sqrt(1e-300) == 1e-150 && scalar_sqrt(0.0) == 0);
static_assert(scalar_exp(0.0) == 1 && scalar_log(1.0) == 0 && scalar_cos(0.0) == 1 && scalar_sin(0.0) == 0);

}  // namespace

TEST_GROUP(ScalarMath) {};

TEST(ScalarMath, ErrorsAreBelowTwoUnits) {
  CHECK(worst(-700, 700, scalar_exp, [](long double x) { return expl(x); }) < 1.5);
  CHECK(worst(0.5, 2, scalar_log, [](long double x) { return logl(x); }) < 1.0);
  CHECK(worst(1e-300, 1e300, scalar_log, [](long double x) { return logl(x); }) < 1.0);
  CHECK(worst(-1e4, 1e4, scalar_sin, [](long double x) { return sinl(x); }) < 2.0);
  CHECK(worst(-1e4, 1e4, scalar_cos, [](long double x) { return cosl(x); }) < 2.0);
}

TEST(ScalarMath, RootsAtCompileTimeAreTheProcessors) {
  constexpr double x[] = {2, 3, 5, 1e-310, 7.5e200, 0.1, 768, 1.0000000000000002};
  constexpr double roots[] = {scalar_sqrt(x[0]), scalar_sqrt(x[1]), scalar_sqrt(x[2]), scalar_sqrt(x[3]),
                              scalar_sqrt(x[4]), scalar_sqrt(x[5]), scalar_sqrt(x[6]), scalar_sqrt(x[7])};
  for (int i = 0; i < 8; ++i) DOUBLES_EQUAL(std::sqrt(x[i]), roots[i], 0);
}

TEST(ScalarMath, EdgesAreThoseOfIeee) {
  CHECK(std::isnan(scalar_exp(NAN)) && std::isnan(scalar_log(-1.0)) && std::isnan(scalar_log(NAN)));
  CHECK(scalar_exp(1000) == INFINITY && scalar_exp(-1000) == 0 && scalar_exp(-745) > 0);
  CHECK(scalar_log(0.0) == -INFINITY && scalar_log(INFINITY) == INFINITY);
  DOUBLES_EQUAL(std::log(5e-324), scalar_log(5e-324), 1e-12);
}
