/// exp, log, tanh and erf: the errors that core/simd/functions.hpp states, the values at the edges, and the
/// same bits from every implementation. With THIMBLE_TEST_ALL_FLOATS set in the environment, the errors are
/// measured over every float there is, which takes minutes.

#include <cstdlib>

#include "tests/simd/compare.hpp"
#include "tests/simd/function_digest.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble_test;
using thimble::Profile;

namespace {

constexpr int kFunctions = 4;
constexpr double kUnusable = 1e9;

/// The exact values, with an error far below a unit of `real`.
template <class real>
auto exact_value(int function, real x) {
  using Wide = std::conditional_t<sizeof(real) == 4, double, long double>;
  static_assert(std::numeric_limits<Wide>::digits >= std::numeric_limits<real>::digits + 11);
  const Wide wide = x;
  switch (function) {
    case 0:
      return std::exp(wide);
    case 1:
      return std::log(wide);
    case 2:
      return std::tanh(wide);
    default:
      return std::erf(wide);
  }
}

/// |ours - exact| in units in the last place of the exact value, where infinity counts as the first power of
/// two that is too large; `kUnusable` for a NaN or a sign out of place.
template <class real, class Wide>
double units_off(real ours, Wide exact) {
  using Limits = std::numeric_limits<real>;
  if (std::isnan(exact)) return std::isnan(ours) ? 0 : kUnusable;
  if (std::isnan(ours) || std::signbit(ours) != std::signbit(exact)) return kUnusable;
  const Wide top = std::ldexp(Wide(1), Limits::max_exponent);
  const Wide mine = std::isinf(ours) ? top : std::fabs(Wide(ours));
  const Wide right = std::fmin(std::fabs(exact), top);
  int exponent;
  std::frexp(right, &exponent);
  const int unit = std::max(exponent, Limits::min_exponent) - Limits::digits;
  return double(std::ldexp(std::fabs(mine - right), -unit));
}

/// Numbers of every exponent and both signs: one from each of x.size() stretches of `stride` bit patterns.
template <class real>
void fill_evenly(std::vector<real>& x, std::uint64_t begin, std::uint64_t stride, std::mt19937_64& random) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::bit_cast<real>(thimble::BitsOf<real>(begin + i * stride + random() % stride));
  }
}

/// Numbers where the functions are neither trivial nor saturated.
template <class real>
void fill_middle(std::vector<real>& x, std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(-6, 3);
  for (real& v : x) v = real(std::pow(10.0, exponent(random)) * (random() & 1 ? 1 : -1));
}

struct Worst {
  double units = 0;
  double at = 0;
};
/// By profile and function.
using WorstOfAll = Worst[2][kFunctions];

/// Checks that `set` computes the bits of the plain one.
template <class real>
void check_bits(const Kernels<real>& set, int function, const std::vector<real>& x,
                const std::vector<real>& expected) {
  std::vector<real> got(x.size());
  set.functions[function].run(x.data(), got.data(), std::ptrdiff_t(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (same_bits(expected[i], got[i])) continue;
    FAIL((std::string(set.name) + ": " + set.functions[function].name + "(" + text_of(x[i]) + ") is " +
          text_of(got[i]) + ", plain has " + text_of(expected[i]))
             .c_str());
  }
}

/// Runs every kernel set over the numbers, checks that bits are equal within a profile and notes the largest
/// errors.
template <class real>
void measure(const std::vector<real>& x, WorstOfAll& worst) {
  std::vector<decltype(exact_value(0, real()))> exact(x.size());
  std::vector<real> ours(x.size());
  for (int f = 0; f < kFunctions; ++f) {
    for (std::size_t i = 0; i < x.size(); ++i) exact[i] = exact_value(f, x[i]);
    for (const Kernels<real>* plain : {&plain_fused_kernels<real>(), &plain_separate_kernels<real>()}) {
      plain->functions[f].run(x.data(), ours.data(), std::ptrdiff_t(x.size()));
      Worst& w = worst[int(plain->profile)][f];
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double units = units_off(ours[i], exact[i]);
        if (units > w.units) w = {units, double(x[i])};
      }
      for (const Kernels<real>* set : kernel_sets<real>()) {
        if (set != plain && &plain_of(*set) == plain) check_bits(*set, f, x, ours);
      }
    }
  }
}

/// The largest errors that the documentation states, by profile and function.
using Stated = double[2][kFunctions];

template <class real>
void check_worst(const WorstOfAll& worst, const Stated& stated) {
  for (int p = 0; p < 2; ++p) {
    for (int f = 0; f < kFunctions; ++f) {
      const Kernels<real>& plain = p == 0 ? plain_fused_kernels<real>() : plain_separate_kernels<real>();
      const std::string text = std::string(plain.name) + " " + plain.functions[f].name + ": " +
                               std::to_string(worst[p][f].units) + " units in the last place at " +
                               text_of(worst[p][f].at);
      UT_PRINT(text.c_str());
      CHECK_TEXT(worst[p][f].units <= stated[p][f], text.c_str());
      CHECK_TEXT(worst[p][f].units > 0.8 * stated[p][f], ("states too much: " + text).c_str());
    }
  }
}

constexpr std::size_t kChunk = 1 << 16;

template <class real>
void check_edges(const Kernels<real>& set) {
  constexpr real inf = std::numeric_limits<real>::infinity(), nan = std::numeric_limits<real>::quiet_NaN();
  constexpr real top = std::numeric_limits<real>::max(), least = std::numeric_limits<real>::denorm_min();
  struct Edge {
    int function;
    real x, y;
  };
  const Edge edges[] = {
      {0, 0, 1},      {0, real(-0.0), 1},
      {0, inf, inf},  {0, -inf, 0},
      {0, nan, nan},  {0, top, inf},
      {0, -top, 0},   {0, least, 1},
      {1, 0, -inf},   {1, real(-0.0), -inf},
      {1, 1, 0},      {1, inf, inf},
      {1, -inf, nan}, {1, nan, nan},
      {1, -1, nan},   {1, -least, nan},
      {2, 0, 0},      {2, real(-0.0), real(-0.0)},
      {2, inf, 1},    {2, -inf, -1},
      {2, nan, nan},  {2, least, least},
      {2, top, 1},    {2, -top, -1},
      {3, 0, 0},      {3, real(-0.0), real(-0.0)},
      {3, inf, 1},    {3, -inf, -1},
      {3, nan, nan},  {3, -least, -least},
      {3, top, 1},    {3, -top, -1},
  };
  for (const Edge& e : edges) {
    real y;
    set.functions[e.function].run(&e.x, &y, 1);
    CHECK_TEXT(same_bits(e.y, y), (std::string(set.name) + ": " + set.functions[e.function].name + "(" +
                                   text_of(e.x) + ") is " + text_of(y))
                                      .c_str());
  }
}

template <class real>
void check_digest(std::uint64_t fused, std::uint64_t separate) {
  for (const Kernels<real>* set : kernel_sets<real>()) {
    const std::uint64_t digest = function_digest(*set);
    char text[80];
    std::snprintf(text, sizeof text, "%s: %016llx", set->name, static_cast<unsigned long long>(digest));
    CHECK_TEXT(digest == (set->profile == Profile::fused ? fused : separate), text);
  }
}

}  // namespace

TEST_GROUP(Functions){};

TEST(Functions, ErrorsOfFloatAreAsStatedAndBitsAreEqual) {
  std::mt19937_64 random(1);
  const bool all = std::getenv("THIMBLE_TEST_ALL_FLOATS") != nullptr;
  const std::uint64_t stride = all ? 1 : 1 << 10;
  WorstOfAll worst;
  std::vector<float> x(kChunk);
  for (std::uint64_t begin = 0; begin < 1ull << 32; begin += kChunk * stride) {
    fill_evenly(x, begin, stride, random);
    measure(x, worst);
  }
  for (int i = 0; i < 16; ++i) {
    fill_middle(x, random);
    measure(x, worst);
  }
  check_worst<float>(worst, {{0.90, 0.84, 0.96, 0.97}, {1.17, 0.84, 1.12, 1.25}});
}

TEST(Functions, ErrorsOfDoubleAreAsStatedAndBitsAreEqual) {
  std::mt19937_64 random(2);
  WorstOfAll worst;
  std::vector<double> x(kChunk);
  fill_evenly(x, 0, std::uint64_t(1) << 48, random);
  measure(x, worst);
  for (int i = 0; i < 8; ++i) {
    fill_middle(x, random);
    measure(x, worst);
  }
  check_worst<double>(worst, {{0.90, 0.82, 0.97, 1.01}, {1.18, 0.82, 1.12, 1.25}});
}

TEST(Functions, EdgesAreThoseOfC) {
  for (const Kernels<float>* set : kernel_sets<float>()) check_edges(*set);
  for (const Kernels<double>* set : kernel_sets<double>()) check_edges(*set);
}

TEST(Functions, OddFunctionsAreOddInEveryBit) {
  std::mt19937_64 random(3);
  std::vector<float> x(kChunk), minus_x(kChunk), y(kChunk), minus_y(kChunk);
  fill_evenly(x, 0, std::uint64_t(1) << 16, random);
  for (std::size_t i = 0; i < x.size(); ++i) minus_x[i] = -x[i];
  for (int f : {2, 3}) {
    plain_fused_kernels<float>().functions[f].run(x.data(), y.data(), std::ptrdiff_t(x.size()));
    plain_fused_kernels<float>().functions[f].run(minus_x.data(), minus_y.data(), std::ptrdiff_t(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(same_bits(y[i], -minus_y[i]));
  }
}

TEST(Functions, BitsAreTheSameOnEveryProcessorAndCompiler) {
  check_digest<float>(0x3c39e148c131691e, 0x136719bb6661342c);
  check_digest<double>(0xa0c8bd38f0239388, 0xef0d96f62f9c6911);
}
