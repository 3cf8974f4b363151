/// Sixteen lanes: sums over rows have their written order, and tails touch no memory beyond the row.

#include <sys/mman.h>
#include <unistd.h>

#include "tests/simd/compare.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble_test;
using thimble::FloatLayout, thimble::Profile;

namespace {

constexpr int kLongest = 67;
constexpr int kShifts = 16;

/// The written order: element i belongs to lane i % 16, every lane adds in ascending order, a short tail adds
/// zeros, then lane i takes lane i + 8, i + 4, i + 2, i + 1. `step(lane, i)` adds element i, `step(lane, -1)`
/// the padding.
template <class real, class Step>
real in_row_order(int n, Step step) {
  real lane[16] = {};
  for (int i = 0; i < (n + 15) / 16 * 16; ++i) lane[i % 16] = step(lane[i % 16], i < n ? i : -1);
  for (int half = 8; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) lane[k] = lane[k] + lane[k + half];
  }
  return lane[0];
}

template <class real>
real mul_add(Profile profile, real a, real b, real c) {
  if (profile == Profile::fused) return std::fma(a, b, c);
  const volatile real product = a * b;
  return product + c;
}

template <class real>
std::vector<real> random_row(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<real> x(kLongest + kShifts);
  for (real& v : x)
    v = difficult_number<real>(random, FloatLayout<real>::bias - 12, FloatLayout<real>::bias + 2);
  return x;
}

/// Calls check(row x, row y, n) for every length and misalignment.
template <class real, class Check>
void for_all_rows(Check check) {
  const std::vector<real> x = random_row<real>(1), y = random_row<real>(2);
  for (int n = 0; n <= kLongest; ++n) {
    for (int shift = 0; shift < kShifts; ++shift)
      check(x.data() + shift, y.data() + (shift * 5) % kShifts, n);
  }
}

template <class real>
void check_sums(const Kernels<real>& set) {
  for_all_rows<real>([&](const real* x, const real* y, int n) {
    const real sum = in_row_order<real>(n, [&](real lane, int i) { return lane + (i < 0 ? real(0) : x[i]); });
    CHECK_TEXT(same_bits(sum, set.row_sum(x, n)), set.name);
    const real dot = in_row_order<real>(n, [&](real lane, int i) {
      return i < 0 ? mul_add(set.profile, real(0), real(0), lane) : mul_add(set.profile, x[i], y[i], lane);
    });
    CHECK_TEXT(same_bits(dot, set.row_dot(x, y, n)), set.name);
    const real distance = in_row_order<real>(n, [&](real lane, int i) {
      const real d = i < 0 ? real(0) : x[i] - real(0.75);
      return mul_add(set.profile, d, d, lane);
    });
    CHECK_TEXT(same_bits(distance, set.row_distance(x, real(0.75), n)), set.name);
  });
}

template <class real>
void check_padding_of_negative_zeros(const Kernels<real>& set) {
  // A sum of sixteen negative zeros starts at zero, as the padding of a shorter row does.
  const std::vector<real> x(kLongest, real(-0.0));
  for (int n = 0; n <= kLongest; ++n) CHECK_TEXT(same_bits(real(0), set.row_sum(x.data(), n)), set.name);
}

template <class real>
void check_maxima(const Kernels<real>& set) {
  constexpr real inf = std::numeric_limits<real>::infinity();
  for_all_rows<real>([&](const real* x, const real*, int n) {
    std::vector<real> row(x, x + n);
    real largest = -inf;
    for (real& v : row) {
      v = -std::fabs(v);  // zeros behind the row would win
      largest = v > largest ? v : largest;
    }
    CHECK_TEXT(same_bits(largest, set.row_max(row.data(), n)), set.name);
  });
}

template <class real>
void check_nan_in_maxima(const Kernels<real>& set) {
  // Which of a NaN and a number wins follows from the order, so it is the same everywhere.
  for (int n = 1; n <= kLongest; ++n) {
    for (int at = 0; at < n; at += 3) {
      std::vector<real> row = random_row<real>(3);
      row[at] = std::numeric_limits<real>::quiet_NaN();
      CHECK_TEXT(same_bits(plain_of(set).row_max(row.data(), n), set.row_max(row.data(), n)), set.name);
    }
  }
}

template <class real>
void check_medley(const Kernels<real>& set) {
  for_all_rows<real>([&](const real* x, const real* y, int n) {
    std::vector<real> expected(n + 1), got(n + 1);
    plain_of(set).medley(x, y, expected.data(), n);
    set.medley(x, y, got.data(), n);
    for (int i = 0; i < n; ++i) {
      CHECK_TEXT(same_bits(expected[i], got[i]), set.name);
      const real a = x[i], b = y[i];
      const real root = std::sqrt(std::fabs(a - b)) * -b;
      real clipped = mul_add(set.profile, a, b, root);
      clipped = clipped < 100 ? clipped : 100;
      clipped = clipped > -100 ? clipped : -100;
      const real chosen = a < b ? a + 1 / (std::fabs(b) + 1) : b <= 0 ? clipped : std::copysign(root, a);
      CHECK_TEXT(same_bits(chosen == chosen ? chosen : real(7), got[i]), set.name);
    }
  });
}

/// A page of memory with pages on both sides that may not be touched.
class GuardedPage {
 public:
  GuardedPage() : size_(std::size_t(sysconf(_SC_PAGESIZE))) {
    start_ = static_cast<char*>(mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(start_ != MAP_FAILED);
    CHECK(mprotect(start_ + size_, size_, PROT_READ | PROT_WRITE) == 0);
  }
  ~GuardedPage() { munmap(start_, 3 * size_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  /// n numbers that end where the page ends, or that begin where it begins.
  template <class real>
  real* last(int n) const {
    return reinterpret_cast<real*>(start_ + 2 * size_) - n;
  }
  template <class real>
  real* first() const {
    return reinterpret_cast<real*>(start_ + size_);
  }

 private:
  std::size_t size_;
  char* start_;
};

template <class real>
void check_tails_at_the_ends_of_memory(const Kernels<real>& set) {
  const GuardedPage from, to;
  for (int n = 0; n <= kLongest; ++n) {
    for (bool at_end : {true, false}) {
      real* x = at_end ? from.last<real>(n) : from.first<real>();
      real* y = at_end ? to.last<real>(n) : to.first<real>();
      for (int i = 0; i < n; ++i) x[i] = real(i) / 8;
      set.functions[0].run(x, y, n);
      set.medley(x, x, y, n);
      set.row_sum(x, n);
      set.row_max(x, n);
      DOUBLES_EQUAL(real(n * (n - 1)) / 16, set.row_sum(x, n), 0);
      CHECK_TEXT(n == 0 || set.row_max(x, n) == real(n - 1) / 8, set.name);
    }
  }
}

template <class real>
void check_stores_stay_in_the_row(const Kernels<real>& set) {
  const real canary = real(-12345);
  for_all_rows<real>([&](const real* x, const real* y, int n) {
    std::vector<real> out(kLongest + 2 * kShifts, canary);
    set.medley(x, y, out.data() + kShifts, n);
    for (int i = 0; i < int(out.size()); ++i) {
      if (i < kShifts || i >= kShifts + n) CHECK_TEXT(out[i] == canary, set.name);
    }
  });
}

}  // namespace

TEST_GROUP(Lanes){/// check(set) of every kernel set of both number types.
                  template <class Check>
                  void of_all_sets(Check check){for (const Kernels<float>* set
                                                     : kernel_sets<float>()) check(*set);
for (const Kernels<double>* set : kernel_sets<double>()) check(*set);
}
}
;

TEST(Lanes, SumsOverRowsHaveTheWrittenOrder) {
  of_all_sets([](const auto& set) { check_sums(set); });
}

TEST(Lanes, SumsOfNegativeZerosDoNotDependOnTheLength) {
  of_all_sets([](const auto& set) { check_padding_of_negative_zeros(set); });
}

TEST(Lanes, MaximaOfNegativeRowsAreNotThePadding) {
  of_all_sets([](const auto& set) { check_maxima(set); });
}

TEST(Lanes, MaximaWithNanAreTheSameEverywhere) {
  of_all_sets([](const auto& set) { check_nan_in_maxima(set); });
}

TEST(Lanes, OperationsAreThoseOfSingleNumbers) {
  of_all_sets([](const auto& set) { check_medley(set); });
}

TEST(Lanes, TailsTouchNothingBeyondTheRow) {
  of_all_sets([](const auto& set) { check_tails_at_the_ends_of_memory(set); });
}

TEST(Lanes, StoresStayInTheRow) {
  of_all_sets([](const auto& set) { check_stores_stay_in_the_row(set); });
}
