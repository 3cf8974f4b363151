/// Placement at the scale of real training steps, and on instances built to have no gap.

#include "tests/plan/placement_trace.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

// Last: CppUTest redefines new.
#include "CppUTest/TestHarness.h"

using thimble::Interval;
using thimble::place;
using thimble::Trace;
using thimble::trace_training_step;
using thimble::TraceConfig;

namespace {

constexpr Trace kTwelveBlocks = trace_training_step(
    {.blocks = 12, .batch = 1, .time = 256, .width = 768, .heads = 12, .vocabulary = 50257});
constexpr auto kTwelveBlocksPlaced = place(kTwelveBlocks.buffers, kTwelveBlocks.count);
static_assert(kTwelveBlocksPlaced.gap_bytes() == 0);
static_assert(first_overlap(kTwelveBlocks.buffers, kTwelveBlocksPlaced.offset, 40).none());

constexpr Trace kTwelveBlocksAgain = trace_training_step({.blocks = 12,
                                                          .batch = 1,
                                                          .time = 256,
                                                          .width = 768,
                                                          .heads = 12,
                                                          .vocabulary = 50257,
                                                          .keep_block_inputs = true});
constexpr auto kTwelveBlocksAgainPlaced = place(kTwelveBlocksAgain.buffers, kTwelveBlocksAgain.count);
static_assert(kTwelveBlocksAgainPlaced.gap_bytes() == 0);
static_assert(kTwelveBlocksAgainPlaced.height_bytes < kTwelveBlocksPlaced.height_bytes);

struct Shape {
  std::int64_t batch, time, width, heads, vocabulary;
};
constexpr Shape kShapes[] = {{1, 1, 16, 4, 27},        {1, 8, 16, 2, 27},    {1, 16, 16, 4, 27},
                             {1, 100, 52, 4, 300},     {8, 128, 128, 4, 96}, {4, 64, 768, 12, 50257},
                             {1, 1024, 768, 12, 50257}};

/// Every combination of what may differ between training steps, as the bits of `choice`.
TraceConfig config_of(int blocks, const Shape& shape, int choice) {
  TraceConfig c{.blocks = blocks,
                .batch = shape.batch,
                .time = shape.time,
                .width = shape.width,
                .heads = shape.heads,
                .vocabulary = shape.vocabulary};
  c.keep_block_inputs = (choice & 1) != 0;
  c.last_block_kept = (choice & 2) != 0;
  c.logits_kept = (choice & 4) != 0;
  c.attention_probabilities = (choice & 8) != 0;
  c.residual_gradient_copied = (choice & 16) != 0;
  c.weight_gradient_in_step = (choice & 32) != 0;
  c.real_bytes = (choice & 64) != 0 ? 8 : 4;
  return c;
}

std::string words_of(const TraceConfig& c, int choice) {
  return "blocks " + std::to_string(c.blocks) + ", time " + std::to_string(c.time) + ", width " +
         std::to_string(c.width) + ", choice " + std::to_string(choice);
}

/// Cuts the rectangle of steps first..last and `bytes` into n pieces, at random.
template <std::size_t N>
void cut(std::mt19937& random, std::array<Interval, N>& pieces, int& count, Interval whole, int n) {
  const int steps = whole.last - whole.first + 1;
  if (n == 1 || (steps == 1 && whole.bytes == 1)) {
    pieces[std::size_t(count++)] = whole;
    return;
  }
  const int part = 1 + int(random() % unsigned(n - 1));
  const bool in_time = whole.bytes == 1 || (steps > 1 && random() % 2 == 0);
  Interval rest = whole;
  if (in_time) {
    whole.last = whole.first + int(random() % unsigned(steps - 1));
    rest.first = whole.last + 1;
  } else {
    whole.bytes = 1 + std::int64_t(random() % unsigned(rest.bytes - 1));
    rest.bytes -= whole.bytes;
  }
  cut(random, pieces, count, whole, part);
  cut(random, pieces, count, rest, n - part);
}

}  // namespace

TEST_GROUP(PlacementTrace){};

TEST(PlacementTrace, TrainingStepsOfTransformersLeaveNoGap) {
  for (const int blocks : {1, 2, 3, 5, 8, 12, 24}) {
    for (const Shape& shape : kShapes) {
      for (int choice = 0; choice < 128; ++choice) {
        const TraceConfig config = config_of(blocks, shape, choice);
        const Trace trace = trace_training_step(config);
        const auto p = place(trace.buffers, trace.count);
        LONGS_EQUAL_TEXT(0, p.gap_bytes(), words_of(config, choice).c_str());
        if (choice % 8 == 5) CHECK(first_overlap(trace.buffers, p.offset, trace.count).none());
      }
    }
  }
}

TEST(PlacementTrace, WeightGradientsHeldToTheEndLeaveNoGapUpToThreeBlocksAndAtMostATenthOfAPercentBeyond) {
  for (const int blocks : {1, 2, 3, 6, 12, 24}) {
    for (const Shape& shape : kShapes) {
      for (int choice = 0; choice < 32; ++choice) {
        TraceConfig config = config_of(blocks, shape, choice);
        config.weight_gradients_in_arena = true;
        const Trace trace = trace_training_step(config);
        const auto p = place(trace.buffers, trace.count);
        const std::int64_t allowed = blocks <= 3 ? 0 : p.lower_bound_bytes / 1000;
        CHECK_TEXT(p.gap_bytes() <= allowed, words_of(config, choice).c_str());
        if (choice % 8 == 5) CHECK(first_overlap(trace.buffers, p.offset, trace.count).none());
      }
    }
  }
}

TEST(PlacementTrace, FifteenHundredNestedBuffersWithShortLivedOnesLeaveNoGap) {
  constexpr int kNested = 400;
  std::array<Interval, 1500> buffers{};
  std::mt19937 random(7);
  for (int i = 0; i < 1500; ++i) {
    const std::int64_t bytes = 64 * std::int64_t(1 + random() % 100'000);
    const int step = int(random() % (2 * kNested));
    buffers[std::size_t(i)] =
        i < kNested ? Interval{i, 2 * kNested - 1 - i, bytes} : Interval{step, step, bytes / 16};
  }
  const auto p = place(buffers, 1500);
  LONGS_EQUAL(0, p.gap_bytes());
  CHECK(first_overlap(buffers, p.offset, 1500).none());
}

TEST(PlacementTrace, UpToFortyPiecesOfACutRectangleAreFittedTogetherAgain) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    std::array<Interval, 40> buffers{};
    int count = 0;
    cut(random, buffers, count, {0, 39, 400}, 10 + int(random() % 31));
    const auto p = place(buffers, count);
    const std::string text = "seed " + std::to_string(seed);
    LONGS_EQUAL_TEXT(400, p.height_bytes, text.c_str());
    CHECK_TEXT(first_overlap(buffers, p.offset, count).none(), text.c_str());
  }
}

// Where pieces are missing the others may have to leave holes.
TEST(PlacementTrace, EverySearchFitsWhatIsLeftOfACutRectangleIntoIt) {
  using thimble::detail::Preference;
  using thimble::detail::SkylineSearch;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    std::mt19937 random(seed);
    std::array<Interval, 14> buffers{};
    int count = 0;
    cut(random, buffers, count, {0, 7, 16}, 14);
    count -= int(random() % 4);
    const auto ranges = thimble::detail::live_ranges(buffers, count);
    for (const Preference preference : {Preference::kLatestEnd, Preference::kLongest}) {
      for (const bool reversed : {false, true}) {
        SkylineSearch<14> search(ranges, preference, reversed);
        CHECK_TEXT(search.run(16, std::int64_t{1} << 40) == thimble::detail::Verdict::kFound,
                   ("seed " + std::to_string(seed)).c_str());
      }
    }
  }
}

// Far from what training gives: hundreds of pieces without a byte to spare. The work spent does not suffice
// for all.
TEST(PlacementTrace, ThreeHundredPiecesOfACutRectangleAreFittedTogetherWithinATenthOnAverage) {
  constexpr int kRounds = 20;
  constexpr std::int64_t kHeight = 3000;
  std::int64_t sum = 0;
  for (unsigned seed = 1; seed <= kRounds; ++seed) {
    std::mt19937 random(seed);
    std::array<Interval, 300> buffers{};
    int count = 0;
    cut(random, buffers, count, {0, 299, kHeight}, 300);
    const auto p = place(buffers, count);
    const std::string text = "seed " + std::to_string(seed);
    LONGS_EQUAL_TEXT(kHeight, p.lower_bound_bytes, text.c_str());
    CHECK_TEXT(first_overlap(buffers, p.offset, count).none(), text.c_str());
    sum += p.height_bytes;
  }
  CHECK_TEXT(sum <= kRounds * (kHeight + kHeight / 10), "seeds 1 to 20");
}
