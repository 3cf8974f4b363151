/// Native vectors: every operation against plain C++ bit by bit, and the multiply-add against the C
/// library's, which rounds once, in all the cases that are hard for one.

#include "tests/simd/compare.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble_test;
using thimble::FloatLayout, thimble::Profile;

namespace {

/// Fails, naming the operands, unless `set` and the expectation agree in every bit.
template <class real>
void check_bits(const Kernels<real>& set, const char* operation, const std::vector<real>& x,
                const std::vector<real>& y, const std::vector<real>& expected, const std::vector<real>& got) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (same_bits(expected[i], got[i])) continue;
    std::string text = std::string(set.name) + ", " + operation + " of " + text_of(x[i]);
    if (!y.empty()) text += " and " + text_of(y[i]);
    FAIL((text + " is " + text_of(got[i]) + " instead of " + text_of(expected[i])).c_str());
  }
}

/// Every pair of special numbers, and difficult ones.
template <class real>
void make_pairs(std::vector<real>& x, std::vector<real>& y) {
  std::mt19937_64 random(11);
  const std::vector<real> special = special_numbers<real>();
  for (real a : special) {
    for (real b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  while (x.size() % 16 != 0 || x.size() < 20000) {
    const int top = 2 * FloatLayout<real>::bias + 1;
    x.push_back(difficult_number<real>(random, 0, top));
    y.push_back(random() % 2 ? difficult_number<real>(random, 0, top) : x.back());
  }
}

template <class real>
void check_operations() {
  std::vector<real> x, y;
  make_pairs(x, y);
  const auto n = std::ptrdiff_t(x.size());
  // pow2, scale, exponent_of and mantissa_of promise nothing outside their ranges; they have tests of their
  // own.
  for (const Kernels<real>* set : kernel_sets<real>()) {
    std::vector<real> expected(x.size()), got(x.size());
    for (int k = 0; k < 4; ++k) {
      plain_fused_kernels<real>().unary[k].run(x.data(), expected.data(), n);
      set->unary[k].run(x.data(), got.data(), n);
      check_bits(*set, set->unary[k].name, x, {}, expected, got);
    }
    for (int k = 0; k < 10; ++k) {
      plain_fused_kernels<real>().binary[k].run(x.data(), y.data(), expected.data(), n);
      set->binary[k].run(x.data(), y.data(), got.data(), n);
      check_bits(*set, set->binary[k].name, x, y, expected, got);
    }
    plain_of(*set).medley(x.data(), y.data(), expected.data(), n);
    set->medley(x.data(), y.data(), got.data(), n);
    check_bits(*set, "medley", x, y, expected, got);
  }
}

/// The roots of all numbers from 1 to 4, which have every mantissa of an odd and of an even exponent, and of some at every
/// exponent: a whole chunk lies in one range, so that no vector is left to the division unit for its neighbours' sake.
void check_roots(const Kernels<float>& set) {
  constexpr std::uint32_t chunk = 1 << 14, one = std::bit_cast<std::uint32_t>(1.f), four = std::bit_cast<std::uint32_t>(4.f);
  std::vector<float> x(chunk), expected(chunk), got(chunk);
  const auto check_from = [&](std::uint32_t bits) {
    for (std::uint32_t i = 0; i < chunk; ++i) {
      x[i] = std::bit_cast<float>(bits + i);
      expected[i] = std::sqrt(x[i]);
    }
    set.unary[0].run(x.data(), got.data(), chunk);
    check_bits(set, "square_root", x, {}, expected, got);
  };
  for (std::uint32_t bits = one; bits < four; bits += chunk) check_from(bits);
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) check_from(exponent << 23 | exponent * chunk);
}

template <class real>
void check_plain_operations() {
  std::vector<real> x, y;
  make_pairs(x, y);
  const Kernels<real>& plain = plain_fused_kernels<real>();
  const auto expect_unary = [&](int k, auto f) {
    std::vector<real> expected, got(x.size());
    for (real v : x) expected.push_back(f(v));
    plain.unary[k].run(x.data(), got.data(), std::ptrdiff_t(x.size()));
    check_bits(plain, plain.unary[k].name, x, {}, expected, got);
  };
  expect_unary(0, [](real a) { return std::sqrt(a); });
  expect_unary(1, [](real a) { return std::fabs(a); });
  expect_unary(2, [](real a) { return -a; });
  expect_unary(3, [](real a) { return real(std::isnan(a)); });
  const auto expect_binary = [&](int k, auto f) {
    std::vector<real> expected, got(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(f(x[i], y[i]));
    plain.binary[k].run(x.data(), y.data(), got.data(), std::ptrdiff_t(x.size()));
    check_bits(plain, plain.binary[k].name, x, y, expected, got);
  };
  expect_binary(0, [](real a, real b) { return a + b; });
  expect_binary(1, [](real a, real b) { return a - b; });
  expect_binary(2, [](real a, real b) { return a * b; });
  expect_binary(3, [](real a, real b) { return a / b; });
  expect_binary(4, [](real a, real b) { return a > b ? a : b; });
  expect_binary(5, [](real a, real b) { return a < b ? a : b; });
  expect_binary(6, [](real a, real b) { return std::copysign(a, b); });
  expect_binary(7, [](real a, real b) { return real(a < b); });
  expect_binary(8, [](real a, real b) { return real(a <= b); });
  expect_binary(9, [](real a, real b) { return a < b ? b : a; });
}

template <class real>
void check_exponents(const Kernels<real>& set) {
  using F = FloatLayout<real>;
  std::mt19937_64 random(12);
  constexpr int count = 1 << 14;
  std::vector<real> x(count), n(count), expected(count), got(count);

  for (int i = 0; i < count; ++i) n[i] = real(1 - F::bias + i % (2 * F::bias));
  for (int i = 0; i < count; ++i) expected[i] = std::ldexp(real(1), int(n[i]));
  set.unary[4].run(n.data(), got.data(), count);
  check_bits(set, "pow2", n, {}, expected, got);

  const int lowest = -F::bias - F::mantissa_bits - 3, highest = F::bias + 1;
  for (int i = 0; i < count; ++i) {
    x[i] = difficult_number<real>(random, F::bias - 1, F::bias);
    n[i] = real(i % 2 ? lowest + i / 2 % (F::mantissa_bits + 8) : lowest + i / 2 % (highest - lowest + 1));
    expected[i] = std::ldexp(x[i], int(n[i]));
  }
  set.binary[11].run(x.data(), n.data(), got.data(), count);
  check_bits(set, "scale", x, n, expected, got);

  std::vector<real> mantissas(count);
  for (real& v : x) v = std::fabs(difficult_number<real>(random, 1, 2 * F::bias));
  set.unary[5].run(x.data(), got.data(), count);
  set.unary[6].run(x.data(), mantissas.data(), count);
  for (int i = 0; i < count; ++i) {
    CHECK(mantissas[i] >= real(0.70710678118654752440) && mantissas[i] <= real(1.4142135623730950488));
    DOUBLES_EQUAL(x[i], std::ldexp(mantissas[i], int(got[i])), 0);
  }
}

template <class real>
void check_sums_across(const Kernels<real>& set) {
  std::mt19937_64 random(13);
  std::vector<real> x(1600), zero(1600), expected, got(1600);
  for (real& v : x) v = difficult_number<real>(random, FloatLayout<real>::bias - 30, FloatLayout<real>::bias);
  for (std::size_t i = 0; i < x.size(); i += set.width) {
    std::vector<real> lane(x.begin() + i, x.begin() + i + set.width);
    for (int half = set.width / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) lane[k] = lane[k] + lane[k + half];
    }
    expected.insert(expected.end(), set.width, lane[0]);
  }
  set.binary[10].run(x.data(), zero.data(), got.data(), std::ptrdiff_t(x.size()));
  check_bits(set, "sum_across", x, {}, expected, got);
}

/// Operands of a multiply-add whose result is hard to round: of all magnitudes; subnormal; nearly cancelling;
/// a sum that lies halfway between two numbers but for a tiny rest; and all triples of special numbers.
template <class real>
struct Triples {
  std::vector<real> x, y, z;

  void add(real a, real b, real c) {
    x.push_back(a);
    y.push_back(b);
    z.push_back(c);
  }
  Triples() {
    using F = FloatLayout<real>;
    std::mt19937_64 random(14);
    const auto any = [&](int low, int high) { return difficult_number<real>(random, low, high); };
    const int bias = F::bias, digits = F::mantissa_bits + 1;
    for (int i = 0; i < 100000; ++i) {
      add(any(0, 2 * bias + 1), any(0, 2 * bias + 1), any(0, 2 * bias + 1));
      add(any(bias - 2, bias + 2), any(bias - 2, bias + 2), any(bias - 2 * digits, bias + 2 * digits));
      add(any(bias / 2 - digits, bias / 2 + 2), any(bias / 2 - digits, bias / 2 + 2), any(0, 2 * digits));
      const real a = any(bias - 40, bias + 40), b = any(bias - 40, bias + 40);
      real c = -a * b;
      if (i % 2) c = std::nextafter(c, i % 4 == 1 ? real(0) : 2 * c);
      add(a, b, c);
      add(any(bias, bias) * std::ldexp(real(1), -digits), any(bias, bias), any(bias, bias));
      add(std::ldexp(any(bias, bias), -2 * digits - i % digits), any(bias, bias),
          real(1) + std::ldexp(real(i % 1000), 1 - digits));
    }
    for (real a : special_numbers<real>()) {
      for (real b : special_numbers<real>()) {
        for (real c : special_numbers<real>()) add(a, b, c);
      }
    }
    while (x.size() % 16 != 0) add(1, 1, 1);
  }
};

template <class real>
void check_mul_add() {
  const Triples<real> t;
  const std::size_t n = t.x.size();
  std::vector<real> once(n), twice(n), got(n);
  std::size_t different = 0;
  for (std::size_t i = 0; i < n; ++i) {
    once[i] = std::fma(t.x[i], t.y[i], t.z[i]);
    const volatile real product = t.x[i] * t.y[i];
    twice[i] = product + t.z[i];
    different += !same_bits(once[i], twice[i]);
  }
  CHECK_TEXT(different > n / 20, "the operands do not tell one rounding from two");
  for (const Kernels<real>* set : kernel_sets<real>()) {
    set->mul_add(t.x.data(), t.y.data(), t.z.data(), got.data(), std::ptrdiff_t(n));
    check_bits(*set, "mul_add", t.x, t.y, set->profile == Profile::fused ? once : twice, got);
  }
  for (std::size_t i = 0; i < n; ++i) got[i] = thimble::detail::fused_in_software(t.x[i], t.y[i], t.z[i]);
  check_bits(plain_fused_kernels<real>(), "fused_in_software", t.x, t.y, once, got);
  for (std::size_t i = 0; i < n; ++i) {
    once[i] = std::sqrt(t.x[i]);
    got[i] = thimble::detail::square_root_in_software(t.x[i]);
  }
  check_bits(plain_fused_kernels<real>(), "square_root_in_software", t.x, {}, once, got);
}

// A product that is exact in double, and a sum halfway between two floats but for its last bit.
static_assert(thimble::mul_add<Profile::fused>(1 + 0x1p-23f, 1 + 0x1p-23f, 0x1p-24f) == 1 + 0x1.8p-22f);
static_assert(thimble::mul_add<Profile::fused>(0x1p-74f, 0x1p-75f, 1.f) == 1);
static_assert(thimble::mul_add<Profile::fused>(1 + 0x1p-52, 1 - 0x1p-52, -1.0) == -0x1p-104);
static_assert(thimble::mul_add<Profile::separate>(1 + 0x1p-52, 1 - 0x1p-52, -1.0) == 0);
static_assert(thimble::square_root(2.f) == 1.41421354f && thimble::square_root(2.0) == 1.4142135623730951);

}  // namespace

TEST_GROUP(Vectors){};

TEST(Vectors, PlainOperationsAreThoseOfC) {
  check_plain_operations<float>();
  check_plain_operations<double>();
}

TEST(Vectors, OperationsHaveTheBitsOfPlainOnes) {
  check_operations<float>();
  check_operations<double>();
}

TEST(Vectors, RootsAreRoundedCorrectly) {
  for (const Kernels<float>* set : kernel_sets<float>()) check_roots(*set);
}

TEST(Vectors, ExponentsAreTakenApartAndPutTogetherExactly) {
  for (const Kernels<float>* set : kernel_sets<float>()) check_exponents(*set);
  for (const Kernels<double>* set : kernel_sets<double>()) check_exponents(*set);
}

TEST(Vectors, SumsAcrossFoldTheUpperHalfOntoTheLowerOne) {
  for (const Kernels<float>* set : kernel_sets<float>()) check_sums_across(*set);
  for (const Kernels<double>* set : kernel_sets<double>()) check_sums_across(*set);
}

TEST(Vectors, MultiplyAddRoundsOnceInTheFusedProfileAndTwiceInTheSeparateOne) {
  check_mul_add<float>();
  check_mul_add<double>();
}
