/// Learning rates against the lists and formulas that others publish.

#include "core/train/schedule.hpp"

#include <cmath>
#include <limits>

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr Schedule kCosine{
    .kind = ScheduleKind::cosine, .peak = 0.01, .floor = 0.001, .warmup_steps = 5, .total_steps = 20};
constexpr Schedule kWsd{.kind = ScheduleKind::wsd,
                        .peak = 0.5,
                        .floor = 0.125,
                        .warmup_steps = 4,
                        .total_steps = 30,
                        .decay_steps = 6};

void check_fault(Schedule s, const char* text) {
  STRCMP_EQUAL(text, fault_of(s));
}

}  // namespace

TEST_GROUP(Schedule){};

TEST(Schedule, WarmUpAndCosineGiveTheListThatPythonPrints) {
  // peak * (t + 1) / warm, then floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * (t - warm) / (steps -
  // warm)))
  constexpr double expected[] = {0.002,
                                 0.004,
                                 0.006,
                                 0.008,
                                 0.01,
                                 0.010000000000000002,
                                 0.009901664203302126,
                                 0.009610954559391705,
                                 0.009140576474687266,
                                 0.008511087728614863,
                                 0.007750000000000001,
                                 0.006890576474687264,
                                 0.0059703780847044415,
                                 0.0050296219152955604,
                                 0.004109423525312737,
                                 0.003250000000000001,
                                 0.0024889122713851394,
                                 0.0018594235253127371,
                                 0.0013890454406082957,
                                 0.0010983357966978745};
  const double ulp = std::nextafter(0.01, 1.0) - 0.01;
  for (int t = 0; t < 20; ++t) DOUBLES_EQUAL(expected[t], learning_rate(kCosine, t), ulp);
}

TEST(Schedule, CosineStaysAtTheFloorAfterTheLastStep) {
  CHECK(learning_rate(kCosine, 19) > kCosine.floor);
  CHECK(learning_rate(kCosine, 20) == kCosine.floor);
  CHECK(learning_rate(kCosine, 1'000'000'000'000) == kCosine.floor);
}

TEST(Schedule, LinearToZeroIsPeakTimesTheRemainingPart) {
  constexpr Schedule s{.kind = ScheduleKind::linear, .peak = 0.01, .floor = 0, .total_steps = 1000};
  for (int i = 0; i < 1000; ++i) CHECK(learning_rate(s, i) == 0.01 * (1 - i / 1000.0));
  CHECK(learning_rate(s, 1000) == 0);
}

TEST(Schedule, LinearEndsAtTheFloor) {
  constexpr Schedule s{
      .kind = ScheduleKind::linear, .peak = 1, .floor = 0.25, .warmup_steps = 2, .total_steps = 10};
  constexpr double expected[] = {0.5,   1,       1,      0.90625, 0.8125, 0.71875,
                                 0.625, 0.53125, 0.4375, 0.34375, 0.25,   0.25};
  for (int t = 0; t < 12; ++t) CHECK(learning_rate(s, t) == expected[t]);
}

TEST(Schedule, ConstantNeedsNoTotalAndMayWarmUp) {
  constexpr Schedule s{.peak = 0.5, .warmup_steps = 2};
  CHECK(learning_rate(s, 0) == 0.25);
  for (int t = 1; t < 5; ++t) CHECK(learning_rate(s, t) == 0.5);
  CHECK(learning_rate(Schedule{}, 0) == Schedule{}.peak);
}

TEST(Schedule, WarmUpThenStableThenDecay) {
  CHECK(learning_rate(kWsd, 0) == 0.125);
  for (int t = 3; t <= 24; ++t) CHECK(learning_rate(kWsd, t) == 0.5);
  for (int t = 24; t <= 30; ++t) DOUBLES_EQUAL(0.5 - 0.0625 * (t - 24), learning_rate(kWsd, t), 1e-16);
  CHECK(learning_rate(kWsd, 30) == 0.125);
}

TEST(Schedule, WarmUpThatTakesTheWholeRunEndsAtThePeak) {
  for (const ScheduleKind kind : {ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd}) {
    const Schedule s{.kind = kind, .peak = 1, .floor = 0.5, .warmup_steps = 4, .total_steps = 4};
    CHECK(fault_of(s) == nullptr);
    CHECK(learning_rate(s, 3) == 1);
    CHECK(learning_rate(s, 4) == 0.5);
  }
}

TEST(Schedule, Gpt3WarmsUpOver375MillionTokensAndDecaysToATenthOver260Billion) {
  constexpr double tokens_per_step = 0.5e6;
  constexpr Schedule s = gpt3_schedule(300e9, tokens_per_step, 6e-4);
  CHECK(fault_of(s) == nullptr);
  LONGS_EQUAL(750, s.warmup_steps);
  LONGS_EQUAL(520'000, s.total_steps);
  CHECK(learning_rate(s, 749) == 6e-4);
  CHECK(learning_rate(s, 748) < 6e-4);
  CHECK(learning_rate(s, 1000) < 6e-4);
  DOUBLES_EQUAL(6e-5, learning_rate(s, 520'000), 1e-20);
  DOUBLES_EQUAL((6e-4 + 6e-5) / 2, learning_rate(s, (750 + 520'000) / 2), 1e-17);
}

TEST(Schedule, Gpt3InProportionToFewerTokens) {
  constexpr Schedule s = gpt3_schedule(3e6, 512, 1e-3);
  LONGS_EQUAL(7, s.warmup_steps);    // 3750 tokens
  LONGS_EQUAL(5078, s.total_steps);  // 2.6 million tokens
}

TEST(Schedule, Llama3WarmsUpOver8000StepsAndDecaysToOneHundredthOver1200000) {
  constexpr Schedule s = llama3_405b_schedule();
  CHECK(fault_of(s) == nullptr);
  LONGS_EQUAL(8000, s.warmup_steps);
  CHECK(learning_rate(s, 0) == 8e-5 / 8000);
  CHECK(learning_rate(s, 7999) == 8e-5);
  CHECK(learning_rate(s, 1'199'999) > 8e-7);
  CHECK(learning_rate(s, 1'200'000) == 8e-7);
}

TEST(Schedule, NonsenseIsNamed) {
  CHECK(fault_of(Schedule{}) == nullptr);
  CHECK(fault_of(kCosine) == nullptr);
  CHECK(fault_of(kWsd) == nullptr);
  for (const double bad : {-1.0, kNan, kInfinity}) {
    check_fault({.peak = bad}, "the learning rate must be finite and not negative");
    check_fault({.floor = bad}, "the lowest learning rate must be finite and not negative");
  }
  check_fault({.peak = 0.1, .floor = 0.2}, "the lowest learning rate exceeds the learning rate");
  check_fault({.warmup_steps = -1}, "the number of warm-up steps is negative");
  check_fault({.kind = ScheduleKind::linear}, "a schedule that decays needs the total number of steps");
  check_fault({.kind = ScheduleKind::cosine, .warmup_steps = 21, .total_steps = 20},
              "the warm-up is longer than the whole run");
  Schedule s = kWsd;
  s.decay_steps = -1;
  check_fault(s, "the number of decay steps is negative");
  s.decay_steps = 27;
  check_fault(s, "warm-up and decay are longer than the whole run");
  s.decay_steps = 26;
  CHECK(fault_of(s) == nullptr);
}
