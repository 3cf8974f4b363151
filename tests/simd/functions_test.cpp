/// exp, log, tanh, erf: the stated error over a dense sample, and the same bits from every implementation; multiply-add
/// that rounds once (or, in the separate profile, twice); sums in their written order.

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "ports/host/cpu.hpp"
#include "tests/simd/function_set.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble;

namespace {

struct Bound {
  double fused;
  double separate;
};

/// What core/simd/functions.hpp states, in units in the last place.
constexpr Bound kStated{1.0, 1.3};

template <class real>
std::vector<const FunctionSet<real>*> fast_sets() {
  std::vector<const FunctionSet<real>*> sets;
#ifdef THIMBLE_TEST_X86
  if (can_run(Isa::avx2)) sets.push_back(&avx2_functions<real>());
  if (can_run(Isa::avx512)) sets.push_back(&avx512_functions<real>());
#endif
  return sets;
}

template <class real>
bool same_bits(real a, real b) {
  return std::bit_cast<BitsOf<real>>(a) == std::bit_cast<BitsOf<real>>(b) || (a != a && b != b);
}

/// Every exponent, both signs, and the values where something changes.
template <class real>
std::vector<real> dense_sample(std::size_t count) {
  std::vector<real> x = {0, real(-0.0), 1, -1, real(0.5), real(INFINITY), real(-INFINITY), real(NAN),
                         std::numeric_limits<real>::min(), std::numeric_limits<real>::denorm_min(),
                         std::numeric_limits<real>::max(), std::numeric_limits<real>::lowest(),
                         real(88.72283), real(88.7229), real(-87.33655), real(-103.9), real(-104.5), real(709.78),
                         real(709.79), real(-708.4), real(-745.13), real(-745.2), real(9.01), real(19.1)};
  std::mt19937_64 random(20240229);
  while (x.size() < count) x.push_back(std::bit_cast<real>(BitsOf<real>(random())));
  std::uniform_real_distribution<double> near(-30, 30);
  for (std::size_t i = 0; i < count; ++i) x.push_back(real(near(random)));
  for (std::size_t i = 0; i < count / 4; ++i) x.push_back(real(near(random) * 30));
  return x;
}

/// Error in units in the last place of the exact result rounded to `real`.
template <class real>
double error_in_units(real y, long double exact) {
  const real nearest = real(exact);
  if (std::isnan(y) || std::isnan(exact)) return std::isnan(y) && std::isnan(exact) ? 0 : 1e9;
  if (std::isinf(y) || std::isinf(nearest)) return y == nearest ? 0 : 1e9;
  const real magnitude = std::fabs(nearest);
  const long double unit = magnitude == std::numeric_limits<real>::max()
                               ? (long double)magnitude - std::nextafter(magnitude, real(0))
                               : (long double)std::nextafter(magnitude, real(INFINITY)) - magnitude;
  return double(std::fabs((long double)y - exact) / unit);
}

template <class real>
void check_function(const char* name, typename FunctionSet<real>::Map FunctionSet<real>::*function,
                    long double (*exact)(long double), const Bound& bound) {
  const std::vector<real> x = dense_sample<real>(400000);
  std::vector<real> plain(x.size()), other(x.size());
  (plain_functions<real>().*function)(x.data(), plain.data(), x.size());
  (separate_functions<real>().*function)(x.data(), other.data(), x.size());
  double worst = 0, worst_separate = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double e = exact((long double)x[i]);
    worst = std::max(worst, error_in_units(plain[i], e));
    worst_separate = std::max(worst_separate, error_in_units(other[i], e));
  }
  const std::string text = std::string(name) + ": " + std::to_string(worst) + " fused, " +
                           std::to_string(worst_separate) + " separate";
  UT_PRINT(text.c_str());
  CHECK_TEXT(worst <= bound.fused && worst_separate <= bound.separate, text.c_str());
  for (const FunctionSet<real>* set : fast_sets<real>()) {
    (set->*function)(x.data(), other.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK_TEXT(same_bits(plain[i], other[i]), name);
  }
}

long double exact_exp(long double x) { return std::exp(x); }
long double exact_log(long double x) { return std::log(x); }
long double exact_tanh(long double x) { return std::tanh(x); }
long double exact_erf(long double x) { return std::erf(x); }

template <class real>
void check_multiply_add() {
  std::mt19937_64 random(5);
  const auto draw = [&] {
    return real(std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), int(random() % 90) - 45));
  };
  std::vector<real> a, b, c;
  for (int i = 0; i < 200000; ++i) {
    a.push_back(i % 5 == 0 ? std::bit_cast<real>(BitsOf<real>(random())) : draw());
    b.push_back(draw());
    // Half of them cancel the product but for its rounding.
    c.push_back(i % 2 == 0 ? draw() : -a.back() * b.back());
  }
  std::vector<real> y(a.size());
  std::vector<const FunctionSet<real>*> sets = fast_sets<real>();
  sets.push_back(&plain_functions<real>());
  for (const FunctionSet<real>* set : sets) {
    set->mul_add(a.data(), b.data(), c.data(), y.data(), y.size());
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(same_bits(y[i], std::fma(a[i], b[i], c[i])));
  }
  separate_functions<real>().mul_add(a.data(), b.data(), c.data(), y.data(), y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const volatile real product = a[i] * b[i];
    CHECK(same_bits(y[i], real(product + c[i])));
  }
}

/// The order that core/simd/lanes.hpp writes down, as plain loops.
template <class real>
real written_sum(const real* x, const real* y, std::int64_t n) {
  real lane[16] = {};
  for (std::int64_t i = 0; i < (n + 15) / 16 * 16; ++i) {
    const real a = i < n ? x[i] : real(0), b = y == nullptr ? real(1) : i < n ? y[i] : real(0);
    lane[i % 16] = std::fma(a, b, lane[i % 16]);
  }
  for (int width = 8; width >= 1; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] = lane[i] + lane[i + width];
  }
  return lane[0];
}

template <class real>
void check_sums() {
  std::mt19937_64 random(9);
  std::vector<real> x(80), y(80);
  for (auto* v : {&x, &y}) {
    for (real& e : *v) e = real(std::uniform_real_distribution<double>(-1, 1)(random));
  }
  std::vector<const FunctionSet<real>*> sets = fast_sets<real>();
  sets.push_back(&plain_functions<real>());
  for (const FunctionSet<real>* set : sets) {
    for (std::int64_t n = 0; n < 68; ++n) {
      for (int shift = 0; shift < 5; ++shift) {
        CHECK(same_bits(written_sum<real>(x.data() + shift, nullptr, n), set->sum(x.data() + shift, n)));
        CHECK(same_bits(written_sum<real>(x.data() + shift, y.data(), n), set->dot(x.data() + shift, y.data(), n)));
      }
    }
  }
}

}  // namespace

TEST_GROUP(Functions) {};

TEST(Functions, ErrorsOfFloatAreAsStatedAndBitsAreEqual) {
  check_function<float>("exp", &FunctionSet<float>::exp, exact_exp, kStated);
  check_function<float>("log", &FunctionSet<float>::log, exact_log, kStated);
  check_function<float>("tanh", &FunctionSet<float>::tanh, exact_tanh, kStated);
  check_function<float>("erf", &FunctionSet<float>::erf, exact_erf, kStated);
  check_function<float>("sqrt", &FunctionSet<float>::square_root, [](long double x) { return std::sqrt(x); },
                        {0.5, 0.5});
}

TEST(Functions, ErrorsOfDoubleAreAsStatedAndBitsAreEqual) {
  check_function<double>("exp", &FunctionSet<double>::exp, exact_exp, kStated);
  check_function<double>("log", &FunctionSet<double>::log, exact_log, kStated);
  check_function<double>("tanh", &FunctionSet<double>::tanh, exact_tanh, kStated);
  check_function<double>("erf", &FunctionSet<double>::erf, exact_erf, kStated);
  check_function<double>("sqrt", &FunctionSet<double>::square_root, [](long double x) { return std::sqrt(x); },
                         {0.501, 0.501});
}

TEST(Functions, MultiplyAddRoundsOnceOrInTheSeparateProfileTwice) {
  check_multiply_add<float>();
  check_multiply_add<double>();
}

TEST(Functions, SumsHaveTheWrittenOrder) {
  check_sums<float>();
  check_sums<double>();
}
