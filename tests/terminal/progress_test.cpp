#include "tools/terminal/progress.hpp"

#include <cmath>
#include <string>

#include "tools/terminal/format.hpp"

#include "CppUTest/TestHarness.h"

using thimble::Progress;

TEST_GROUP(Progress) {
  std::string out;
  double now = 100;

  Progress::Screen screen(int width = 80, bool unicode = false) {
    return {[this](std::string_view text) { out += text; }, [this] { return now; }, width, unicode};
  }

  /// What was written since the last call.
  std::string taken() {
    std::string text = out;
    out.clear();
    return text;
  }
};

TEST(Progress, QuietWritesNothing) {
  Progress progress(10, Progress::Style::quiet, screen());
  progress.update(1, 2.5, 100);
  progress.note("a note");
  progress.finish();
  STRCMP_EQUAL("", out.c_str());
}

TEST(Progress, LinesComeEveryFewSeconds) {
  Progress progress(1000, Progress::Style::lines, screen());
  now += 2;
  progress.update(10, 3.25, 12345.4);
  STRCMP_EQUAL("step 10/1,000, loss 3.2500, 12,345 tokens/s, 3:18 left\n", taken().c_str());
  now += 4.9;
  progress.update(20, 3, 100);
  STRCMP_EQUAL("", taken().c_str());
  now += 0.2;
  progress.update(30, 3, 100);
  STRCMP_CONTAINS("step 30/1,000", taken().c_str());
  progress.note("step 30: held-out loss 2.9");
  STRCMP_EQUAL("step 30: held-out loss 2.9\n", taken().c_str());
  progress.update(1000, 1.5, 100);
  progress.finish();
  STRCMP_EQUAL("step 1,000/1,000, loss 1.5000, 100 tokens/s, took 0:07\n", taken().c_str());
  progress.finish();
  STRCMP_EQUAL("", taken().c_str());
}

TEST(Progress, OtherThingsThanStepsHaveNoLoss) {
  Progress progress(1000, Progress::Style::lines, screen(), "life");
  now += 2;
  progress.update(10);
  STRCMP_EQUAL("life 10/1,000, 3:18 left\n", taken().c_str());
}

TEST(Progress, LinesHoldNoControlCharacters) {
  Progress progress(3, Progress::Style::lines, screen());
  progress.update(1, 1, 1);
  progress.note("note");
  progress.finish();
  for (const char c : out) CHECK_TRUE(c == '\n' || c >= ' ');
}

TEST(Progress, BarRedrawsItsLine) {
  Progress progress(200, Progress::Style::bar, screen());
  now += 1;
  progress.update(50, 3.25, 2000);
  STRCMP_EQUAL("\r[####...............]  25 % step 50/200  loss 3.2500  2,000 tokens/s  0:03 left\x1b[K",
               taken().c_str());
  now += 0.05;
  progress.update(51, 3.25, 2000);
  STRCMP_EQUAL("", taken().c_str());
  now += 0.06;
  progress.update(52, 3.25, 2000);
  STRCMP_CONTAINS("\r[", taken().c_str());
}

TEST(Progress, NotesStandAboveTheBar) {
  Progress progress(200, Progress::Style::bar, screen());
  progress.update(50, 3.25, 2000);
  taken();
  progress.note("held-out loss 2.9");
  const std::string text = taken();
  CHECK_TRUE(text.starts_with("\r\x1b[Kheld-out loss 2.9\n\r["));
}

TEST(Progress, FinishedBarEndsItsLine) {
  {
    Progress progress(10, Progress::Style::bar, screen());
    progress.update(10, 1, 5);
    taken();
    now += 61;
    progress.finish();
    const std::string text = taken();
    STRCMP_CONTAINS("100 % step 10/10  loss 1.0000  5 tokens/s  took 1:01", text.c_str());
    CHECK_TRUE(text.ends_with("\n"));
  }
  STRCMP_EQUAL("", taken().c_str());
}

TEST(Progress, AbandonedBarLeavesAFreshLine) {
  {
    Progress progress(10, Progress::Style::bar, screen());
    progress.update(3, 1, 5);
    taken();
  }
  STRCMP_EQUAL("\n", taken().c_str());
}

TEST(Progress, NothingIsDrawnBeforeTheFirstUpdate) {
  {
    Progress progress(10, Progress::Style::bar, screen());
    progress.finish();
  }
  STRCMP_EQUAL("", out.c_str());
}

TEST(Progress, BarFitsEveryWidth) {
  for (const bool unicode : {false, true}) {
    for (int width = 1; width < 200; ++width) {
      for (const int done : {0, 1, 333'333, 999'999, 1'000'000, 2'000'000}) {
        Progress progress(1'000'000, Progress::Style::bar, screen(width, unicode));
        progress.update(done, 123.456, 1e9);
        const std::string text = taken();
        // Between the carriage return and the three characters that clear the rest.
        CHECK_TRUE(thimble::display_width(text) - 4 <= static_cast<std::size_t>(width - 1));
        progress.finish();
        taken();
      }
    }
  }
}

TEST(Progress, UnicodeBarMovesByEighths) {
  Progress progress(8 * 40, Progress::Style::bar, screen(200, true));
  progress.update(9, 1, 0);
  STRCMP_CONTAINS("\r[\xe2\x96\x88\xe2\x96\x8f    ", taken().c_str());
}

TEST(Progress, OddNumbersDoNotHurt) {
  Progress progress(0, Progress::Style::lines, screen());
  progress.update(0, std::nan(""), std::nan(""));
  STRCMP_EQUAL("step 0/1, loss nan\n", taken().c_str());
  now += 10;
  progress.update(5, HUGE_VAL, HUGE_VAL);
  STRCMP_EQUAL("step 5/1, loss inf, 0:00 left\n", taken().c_str());
}
