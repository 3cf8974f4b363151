/// Placement on small cases: fixed ones at compile time, random ones against the true optimum.

#include "core/plan/placement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

// Last: CppUTest redefines new.
#include "CppUTest/TestHarness.h"

using thimble::Interval;
using thimble::Overlap;
using thimble::place;

namespace {

template <std::size_t N>
constexpr bool is_valid(const std::array<Interval, N>& buffers, const thimble::Placement<N>& p, int count) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < std::size_t(count); ++i) {
    if (p.offset[i] < 0) return false;
    top = std::max(top, buffers[i].bytes == 0 ? 0 : p.offset[i] + buffers[i].bytes);
  }
  return top == p.height_bytes && p.lower_bound_bytes <= p.height_bytes &&
         first_overlap(buffers, p.offset, count).none();
}

/// Does a placement of all N buffers hold, with this height and this lower bound?
template <std::size_t N>
constexpr bool places_to(const std::array<Interval, N>& buffers, std::int64_t height, std::int64_t bound) {
  const auto p = place(buffers, int(N));
  return is_valid(buffers, p, int(N)) && p.height_bytes == height && p.lower_bound_bytes == bound;
}

static_assert(places_to(std::array<Interval, 0>{}, 0, 0));
static_assert(places_to(std::array<Interval, 1>{{{5, 5, 64}}}, 64, 64));
static_assert(places_to(std::array<Interval, 1>{{{0, 9, 0}}}, 0, 0));
static_assert(places_to(std::array<Interval, 2>{{{0, 3, 64}, {4, 7, 128}}}, 128, 128),
              "disjoint lives share");
static_assert(places_to(std::array<Interval, 2>{{{0, 4, 64}, {4, 7, 128}}}, 192, 192), "last is inclusive");
static_assert(places_to(
    std::array<Interval, 3>{{{-7, -5, 64}, {-5, 0, 64}, {-2'000'000'000, 2'000'000'000, 64}}}, 192, 192));
static_assert(places_to(std::array<Interval, 4>{{{0, 9, 64}, {0, 9, 0}, {3, 3, 0}, {2, 5, 64}}}, 128, 128));

// The long buffer has to go below the two short ones, though it is the smallest.
constexpr std::array<Interval, 3> kBridge = {{{0, 1, 128}, {1, 3, 64}, {3, 4, 256}}};
static_assert(places_to(kBridge, 320, 320));

// Buffers that all live together only stack.
constexpr auto kAllTogether = [] {
  std::array<Interval, 40> buffers{};
  for (int i = 0; i < 40; ++i) buffers[std::size_t(i)] = {i, 40 + (i * 7) % 11, 64 * (1 + i % 5)};
  return buffers;
}();
static_assert(places_to(kAllTogether, 64 * 120, 64 * 120));

// No placement reaches the most bytes live at once (10), found by random search: the least number of buffers
// for which any instance with sizes 1..4 turned up. 11 is the optimum.
constexpr std::array<Interval, 8> kAboveTheBound = {
    {{3, 3, 3}, {2, 4, 3}, {4, 6, 4}, {5, 5, 4}, {1, 1, 4}, {1, 3, 2}, {3, 5, 2}, {0, 2, 4}}};
static_assert(places_to(kAboveTheBound, 11, 10));

static_assert(thimble::max_live_bytes(std::array<Interval, 3>{{{0, 2, 64}, {2, 4, 128}, {3, 3, 256}}}, 3) ==
              384);
static_assert(thimble::max_live_bytes(std::array<Interval, 3>{{{0, 2, 64}, {2, 4, 128}, {3, 3, 256}}}, 2) ==
              192);
static_assert(thimble::max_live_bytes(std::array<Interval, 1>{}, 0) == 0);

constexpr std::array<Interval, 3> kThree = {{{0, 4, 64}, {2, 6, 64}, {5, 9, 64}}};
static_assert(first_overlap(kThree, {0, 64, 0}, 3).none(), "0 and 2 share an address at different steps");
static_assert(first_overlap(kThree, {0, 32, 128}, 3) == Overlap{0, 1});
static_assert(first_overlap(kThree, {0, 64, 1}, 3) == Overlap{1, 2});
static_assert(first_overlap(kThree, {0, 64, 1}, 2).none(), "the third is not looked at");
static_assert(first_overlap(std::array<Interval, 2>{{{0, 4, 64}, {4, 4, 0}}}, {0, 32}, 2).none());

/// The least height of all placements. In order of their offsets, buffers of an optimal placement may each be
/// dropped onto those before; so the best order to drop them in gives the optimum.
template <std::size_t N>
class Optimum {
 public:
  Optimum(const std::array<Interval, N>& buffers, int count) : buffers_(buffers), count_(count) {
    bound_ = max_live_bytes(buffers, count);
    drop_next(0, 0);
  }
  std::int64_t height_bytes() const { return best_; }

 private:
  void drop_next(int dropped, std::int64_t height) {
    if (best_ == bound_) return;
    if (dropped == count_) {
      best_ = height;
      return;
    }
    for (int i = 0; i < count_; ++i) {
      if (is_dropped_[i]) continue;
      const std::int64_t top = ground_below(i) + buffers_[std::size_t(i)].bytes;
      if (top >= best_) continue;
      is_dropped_[i] = true;
      top_[i] = top;
      drop_next(dropped + 1, std::max(height, top));
      is_dropped_[i] = false;
    }
  }

  std::int64_t ground_below(int i) const {
    std::int64_t ground = 0;
    const Interval& a = buffers_[std::size_t(i)];
    for (int j = 0; j < count_; ++j) {
      const Interval& b = buffers_[std::size_t(j)];
      if (is_dropped_[j] && a.first <= b.last && b.first <= a.last) ground = std::max(ground, top_[j]);
    }
    return ground;
  }

  const std::array<Interval, N>& buffers_;
  int count_;
  std::int64_t bound_ = 0;
  std::int64_t best_ = INT64_MAX;
  std::int64_t top_[N] = {};
  bool is_dropped_[N] = {};
};

constexpr unsigned kSeed = 20'240'517;

int below(std::mt19937& random, int n) {
  return int(random() % unsigned(n));
}

/// Up to 8 buffers, of any length or short ones.
std::array<Interval, 8> small_instance(std::mt19937& random, int count) {
  std::array<Interval, 8> buffers{};
  const int longest = 1 + below(random, 10);
  for (int i = 0; i < count; ++i) {
    const int first = below(random, 10);
    const int last = std::min(first + below(random, longest), 9);
    buffers[std::size_t(i)] = {first, last, 64 * std::int64_t(1 + below(random, 6))};
  }
  return buffers;
}

/// kAboveTheBound with one to three numbers changed by one, and perhaps a ninth buffer.
std::array<Interval, 9> near_hard_instance(std::mt19937& random, int& count) {
  std::array<Interval, 9> buffers{};
  std::copy(kAboveTheBound.begin(), kAboveTheBound.end(), buffers.begin());
  for (int change = 1 + below(random, 3); change > 0; --change) {
    Interval& b = buffers[std::size_t(below(random, 8))];
    const int by = below(random, 2) == 0 ? -1 : 1;
    const int what = below(random, 3);
    if (what == 0) b.first += by;
    if (what == 1) b.last += by;
    if (what == 2) b.bytes = std::max<std::int64_t>(1, b.bytes + by);
    if (b.last < b.first) std::swap(b.first, b.last);
  }
  const int first = below(random, 7);
  buffers[8] = {first, first + below(random, 4), std::int64_t(1 + below(random, 4))};
  count = 8 + below(random, 2);
  return buffers;
}

/// Each search on its own, with all the work it wants, finds the optimum and proves that nothing is lower.
template <std::size_t N>
void check_every_search(const std::array<Interval, N>& buffers, int count, std::int64_t optimum) {
  using thimble::detail::Preference;
  using thimble::detail::SkylineSearch;
  using thimble::detail::Verdict;
  constexpr std::int64_t kEndless = std::int64_t{1} << 40;
  const auto ranges = thimble::detail::live_ranges(buffers, count);
  for (const Preference preference : {Preference::kLatestEnd, Preference::kLongest}) {
    for (const bool reversed : {false, true}) {
      SkylineSearch<N> reachable(ranges, preference, reversed);
      CHECK_TEXT(reachable.run(optimum, kEndless) == Verdict::kFound, "seed 20240518");
      LONGS_EQUAL_TEXT(optimum, reachable.height_bytes(), "seed 20240518");
      SkylineSearch<N> too_low(ranges, preference, reversed);
      CHECK_TEXT(too_low.run(optimum - 1, kEndless) == Verdict::kImpossible, "seed 20240518");
    }
  }
}

}  // namespace

TEST_GROUP(Placement){};

TEST(Placement, SmallRandomInstancesReachTheOptimum) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < 10'000; ++round) {
    const int count = below(random, 9);
    const auto buffers = small_instance(random, count);
    const auto p = place(buffers, count);
    CHECK_TEXT(is_valid(buffers, p, count), "seed 20240517");
    if (count > 0) LONGS_EQUAL_TEXT(Optimum(buffers, count).height_bytes(), p.height_bytes, "seed 20240517");
  }
}

TEST(Placement, InstancesWhoseOptimumExceedsTheBoundReachTheOptimum) {
  std::mt19937 random(kSeed);
  int above = 0;
  for (int round = 0; round < 1'500; ++round) {
    int count = 0;
    const auto buffers = near_hard_instance(random, count);
    const auto p = place(buffers, count);
    const std::int64_t optimum = Optimum(buffers, count).height_bytes();
    CHECK_TEXT(is_valid(buffers, p, count), "seed 20240517");
    LONGS_EQUAL_TEXT(optimum, p.height_bytes, "seed 20240517");
    above += optimum > p.lower_bound_bytes ? 1 : 0;
  }
  CHECK_TEXT(above > 100, "too few instances were hard for this test to mean anything");
}

TEST(Placement, EverySearchFindsTheOptimumAndProvesThatNothingIsLower) {
  std::mt19937 random(kSeed + 1);
  for (int round = 0; round < 2'000; ++round) {
    const auto buffers = small_instance(random, 8);
    check_every_search(buffers, 8, Optimum(buffers, 8).height_bytes());
  }
  for (int round = 0; round < 1'000; ++round) {
    int count = 0;
    const auto buffers = near_hard_instance(random, count);
    check_every_search(buffers, count, place(buffers, count).height_bytes);
  }
}

TEST(Placement, RunTimeAndCompileTimeGiveTheSameOffsets) {
  constexpr auto at_compile_time = place(kAboveTheBound, 8);
  std::array<Interval, 8> buffers = kAboveTheBound;
  const auto at_run_time = place(buffers, 8);
  for (std::size_t i = 0; i < 8; ++i) LONGS_EQUAL(at_compile_time.offset[i], at_run_time.offset[i]);
}

TEST(Placement, UnitsOfTimeAndSizeDoNotMatter) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    const auto buffers = small_instance(random, 8);
    auto other = buffers;
    for (Interval& b : other) b = {7 * b.first - 1000, 7 * b.last - 995, 1'000'000 * b.bytes};
    const auto p = place(buffers, 8);
    const auto q = place(other, 8);
    for (std::size_t i = 0; i < 8; ++i) CHECK(q.offset[i] == 1'000'000 * p.offset[i]);
  }
}

TEST(Placement, WithoutWorkToSpendThePlacementIsStillValid) {
  const auto p = place(kAboveTheBound, 8, 0);
  CHECK(is_valid(kAboveTheBound, p, 8));
  LONGS_EQUAL(10, p.lower_bound_bytes);
}
