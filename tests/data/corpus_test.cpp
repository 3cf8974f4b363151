#include "tools/data/corpus.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "tests/data/random.hpp"
#include "tests/files/temporary_folder.hpp"

#include "CppUTest/TestHarness.h"

using thimble::Corpus;
using thimble::kIgnoredTarget;
using thimble::split_windows;
using thimble::uniform_below;
using thimble::test::error_of;
using thimble::test::PhiloxWords;

TEST_GROUP(Corpus){
    static std::vector<std::int32_t> ascending(std::size_t count){std::vector<std::int32_t> ids(count);
std::iota(ids.begin(), ids.end(), 0);
return ids;
}
}
;

TEST(Corpus, TailIsHeldOut) {
  const Corpus corpus(ascending(1000), 9, 0.1, "t");
  CHECK_EQUAL(900U, corpus.train().size());
  CHECK_EQUAL(100U, corpus.held_out().size());
  CHECK_EQUAL(900, corpus.held_out()[0]);
  CHECK_EQUAL(1000U, corpus.ids().size());
}

TEST(Corpus, TailIsAtLeastOneWindowAndLeavesOne) {
  CHECK_EQUAL(10U, Corpus(ascending(50), 9, 0.1, "t").held_out().size());
  CHECK_EQUAL(10U, Corpus(ascending(20), 9, 0.1, "t").held_out().size());
  CHECK_EQUAL(10U, Corpus(ascending(20), 9, 0.9, "t").train().size());
  CHECK_EQUAL(0U, Corpus(ascending(19), 9, 0.1, "t").held_out().size());
  CHECK_EQUAL(0U, Corpus(ascending(1000), 9, 0, "t").held_out().size());
}

TEST(Corpus, ShortTextNamesTheNumbers) {
  CHECK_EQUAL(10U, Corpus(ascending(10), 9, 0.1, "t").train().size());
  STRCMP_EQUAL(
      "poem.txt: has 9 tokens, but one window takes 10 (context 9 + 1); "
      "give a longer text or a model with a shorter context",
      error_of([] { Corpus(ascending(9), 9, 0.1, "poem.txt"); }).c_str());
  STRCMP_CONTAINS("has 0 tokens", error_of([] { Corpus({}, 9, 0.1, "t"); }).c_str());
}

TEST(Corpus, FractionMustBeOne) {
  for (const double fraction : {-0.1, 1.0, 2.0, std::nan("")}) {
    STRCMP_CONTAINS("held-out fraction: ",
                    error_of([&] { Corpus(ascending(99), 9, fraction, "t"); }).c_str());
  }
}

TEST(Corpus, WindowsAreRunsOfTheTrainPart) {
  const Corpus corpus(ascending(200), 7, 0.2, "t");
  std::vector<std::int32_t> rows(500 * 8);
  corpus.draw_windows(rows, PhiloxWords{3}, 0);
  for (std::size_t row = 0; row < 500; ++row) {
    for (std::size_t i = 0; i < 8; ++i) CHECK_EQUAL(rows[row * 8] + static_cast<int>(i), rows[row * 8 + i]);
    CHECK_TRUE(rows[row * 8 + 7] < 160);
  }
}

TEST(Corpus, EveryWindowStartIsDrawnAboutEquallyOften) {
  const Corpus corpus(ascending(27), 7, 0, "t");  // 20 starts
  std::vector<std::int32_t> rows(20'000 * 8);
  corpus.draw_windows(rows, PhiloxWords{5}, 0);
  std::array<int, 20> counts{};
  for (std::size_t row = 0; row < 20'000; ++row) ++counts.at(static_cast<std::size_t>(rows[row * 8]));
  for (const int count : counts) CHECK_TRUE(std::abs(count - 1000) < 6 * 31);  // six standard deviations
}

TEST(Corpus, ARowDependsOnItsCounterAlone) {
  const Corpus corpus(ascending(500), 7, 0, "t");
  std::vector<std::int32_t> all(6 * 8);
  corpus.draw_windows(all, PhiloxWords{9}, 100);
  std::vector<std::int32_t> later(3 * 8);
  corpus.draw_windows(later, PhiloxWords{9}, 103);
  CHECK_TRUE(std::equal(later.begin(), later.end(), all.begin() + 3 * 8));
}

TEST(Corpus, ShortestTextHasOneWindow) {
  const Corpus corpus(ascending(8), 7, 0.1, "t");
  std::vector<std::int32_t> row(8);
  corpus.draw_windows(
      row, [](std::uint64_t) { return 0xffffffffU; }, 0);
  CHECK_TRUE(row == ascending(8));
}

TEST(Corpus, EvaluationMakesEveryHeldOutIdATargetOnce) {
  for (std::size_t held_out = 8; held_out < 40; ++held_out) {
    const std::size_t total = 100 + held_out;
    const Corpus corpus(ascending(total), 7,
                        (static_cast<double>(held_out) + 0.5) / static_cast<double>(total), "t");
    CHECK_EQUAL(held_out, corpus.held_out().size());
    std::vector<std::int32_t> targets;
    std::vector<std::int32_t> window(8);
    for (std::size_t i = 0; i < corpus.evaluation_window_count(); ++i) {
      corpus.evaluation_window(i, window);
      for (std::size_t t = 1; t < 8; ++t) {
        if (window[t] == kIgnoredTarget) continue;
        CHECK_EQUAL(window[t - 1] + 1, window[t]);
        targets.push_back(window[t]);
      }
    }
    CHECK_TRUE(
        std::equal(targets.begin(), targets.end(), corpus.held_out().begin() + 1, corpus.held_out().end()));
  }
}

TEST(Corpus, WithoutHeldOutPartThereAreNoEvaluationWindows) {
  CHECK_EQUAL(0U, Corpus(ascending(50), 7, 0, "t").evaluation_window_count());
  DOUBLES_EQUAL(0, Corpus(ascending(50), 7, 0, "t").held_out_unigram_loss(), 0);
}

TEST(Corpus, EntropyOfEquallyFrequentIdsIsTheirLogarithm) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 800; ++i) ids.push_back(i % 8);
  DOUBLES_EQUAL(std::log(8.0), Corpus(ids, 7, 0.1, "t").unigram_entropy(), 1e-14);
  DOUBLES_EQUAL(0, Corpus(std::vector<std::int32_t>(50, 3), 7, 0.1, "t").unigram_entropy(), 0);
}

TEST(Corpus, EntropyFollowsItsDefinition) {
  // 3 of 4 and 1 of 4.
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 400; ++i) ids.push_back(i % 4 == 0 ? 7 : 2);
  DOUBLES_EQUAL(-0.75 * std::log(0.75) - 0.25 * std::log(0.25), Corpus(ids, 7, 0.1, "t").unigram_entropy(),
                1e-14);
}

TEST(Corpus, HeldOutLossUsesTrainFrequenciesWithOneAdded) {
  // Train: 60 zeros, 20 ones. Held out: 18 zeros, 2 twos, an id that training never sees.
  std::vector<std::int32_t> ids(60, 0);
  ids.insert(ids.end(), 20, 1);
  ids.insert(ids.end(), 18, 0);
  ids.insert(ids.end(), 2, 2);
  const Corpus corpus(ids, 7, 0.2, "t");
  const double expected = -(18 * std::log(61.0 / 83) + 2 * std::log(1.0 / 83)) / 20;
  DOUBLES_EQUAL(expected, corpus.held_out_unigram_loss(), 1e-14);
}

TEST(Corpus, MisuseIsALogicError) {
  const Corpus corpus(ascending(50), 7, 0.2, "t");
  std::vector<std::int32_t> wrong(9);
  CHECK_THROWS(std::logic_error, corpus.draw_windows(wrong, PhiloxWords{}, 0));
  CHECK_THROWS(std::logic_error, corpus.evaluation_window(0, wrong));
  CHECK_THROWS(std::logic_error, corpus.evaluation_window(99, std::span(wrong).first(8)));
  CHECK_THROWS(std::logic_error, Corpus({1, -1, 3, 4}, 2, 0, "t"));
  CHECK_THROWS(std::logic_error, Corpus({1, 2, 3, 4}, 0, 0, "t"));
}

TEST_GROUP(Windows){};

TEST(Windows, SplitIntoInputsAndTargets) {
  const std::vector<std::int32_t> windows = {1, 2, 3, 4, 5, kIgnoredTarget};
  std::vector<std::int32_t> inputs(4);
  std::vector<std::int32_t> targets(4);
  split_windows(windows, 2, inputs, targets);
  CHECK_TRUE((inputs == std::vector<std::int32_t>{1, 2, 4, 5}));
  CHECK_TRUE((targets == std::vector<std::int32_t>{2, 3, 5, kIgnoredTarget}));
}

TEST(Windows, IgnoredIdsBecomeHarmlessInputs) {
  const std::vector<std::int32_t> windows = {7, 8, kIgnoredTarget, kIgnoredTarget};
  std::vector<std::int32_t> inputs(3);
  std::vector<std::int32_t> targets(3);
  split_windows(windows, 3, inputs, targets);
  CHECK_TRUE((inputs == std::vector<std::int32_t>{7, 8, 0}));
  CHECK_TRUE((targets == std::vector<std::int32_t>{8, kIgnoredTarget, kIgnoredTarget}));
}

TEST(Windows, SplitRefusesOtherSizes) {
  const std::vector<std::int32_t> windows(6);
  std::vector<std::int32_t> two(2);
  std::vector<std::int32_t> four(4);
  CHECK_THROWS(std::logic_error, split_windows(windows, 2, two, four));
  CHECK_THROWS(std::logic_error, split_windows(windows, 2, four, two));
  CHECK_THROWS(std::logic_error, split_windows(std::span(windows).first(5), 2, four, four));
}

TEST(Windows, UniformNumbersStayBelowTheirBound) {
  CHECK_EQUAL(6U, uniform_below([](std::uint64_t) { return 0xffffffffU; }, 0, 7));
  CHECK_EQUAL(0U, uniform_below([](std::uint64_t) { return 0U; }, 0, 7));
  CHECK_EQUAL(0xfffffffeU, uniform_below([](std::uint64_t) { return 0xffffffffU; }, 0, 0xffffffffU));
  CHECK_EQUAL(0U, uniform_below([](std::uint64_t) { return 0xffffffffU; }, 0, 1));
}
