#include "tools/terminal/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

using thimble::display_width;
using thimble::plot_curve;
using thimble::PlotOptions;

TEST_GROUP(Plot){static std::vector<std::string> lines(const std::string& text){std::vector<std::string> all;
for (std::size_t begin = 0; begin < text.size();) {
  const std::size_t end = text.find('\n', begin);
  all.push_back(text.substr(begin, end - begin));
  begin = end + 1;
}
return all;
}

static std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines(text)) width = std::max(width, display_width(line));
  return width;
}

static std::vector<double> falling(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(1.5 + 2 * std::exp(-5.0 * i / count));
  return values;
}
}
;

TEST(Plot, StraightLineInAscii) {
  PlotOptions options;
  options.title = "loss";
  options.width = 24;
  options.height = 4;
  options.unicode = false;
  STRCMP_EQUAL(
      "loss\n"
      "3.00 +''..\n"
      "     |    ''..\n"
      "     |        '''...\n"
      "0.00 +              ''..\n"
      "     +------------------\n"
      "      1      step      4\n",
      plot_curve(std::vector<double>{3, 2, 1, 0}, options).c_str());
}

TEST(Plot, StraightLineInBraille) {
  PlotOptions options;
  options.width = 24;
  options.height = 4;
  options.unicode = true;
  STRCMP_EQUAL(
      "3.00 ┤⠉⠒⠤⣀\n"
      "     │    ⠉⠒⠢⢄⡀\n"
      "     │        ⠈⠉⠒⠤⢄⡀\n"
      "0.00 ┤             ⠈⠑⠒⠤⣀\n"
      "     └──────────────────\n"
      "      1      step      4\n",
      plot_curve(std::vector<double>{3, 2, 1, 0}, options).c_str());
}

TEST(Plot, FitsItsWidth) {
  for (const bool unicode : {false, true}) {
    for (const int count : {1, 2, 3, 50, 71, 142, 1000, 12345}) {
      for (const int width : {24, 40, 80, 133}) {
        PlotOptions options;
        options.title = "loss";
        options.width = width;
        options.unicode = unicode;
        const std::string text = plot_curve(falling(count), options);
        CHECK_TRUE(widest(text) <= static_cast<std::size_t>(width));
        CHECK_EQUAL(13U, lines(text).size());
      }
    }
  }
}

TEST(Plot, AxesNameTheRange) {
  PlotOptions options;
  options.unicode = false;
  options.first_x = 100;
  options.x_step = 10;
  const auto text = lines(plot_curve(std::vector<double>(91, 2.0), options));
  STRCMP_CONTAINS("2.200 +", text[0].c_str());
  STRCMP_CONTAINS("1.800 +", text[9].c_str());
  STRCMP_CONTAINS(" 100 ", text[11].c_str());
  STRCMP_CONTAINS(" step ", text[11].c_str());
  CHECK_TRUE(text[11].ends_with(" 1,000"));
}

TEST(Plot, AsciiHasNoOtherCharacters) {
  PlotOptions options;
  options.unicode = false;
  for (const char c : plot_curve(falling(500), options)) CHECK_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
}

TEST(Plot, ValuesThatAreNotFiniteAreLeftOutAndCounted) {
  std::vector<double> values = falling(100);
  values[3] = std::nan("");
  values[50] = std::numeric_limits<double>::infinity();
  const std::string text = plot_curve(values, {.title = "loss"});
  STRCMP_CONTAINS("2 of 100 values are not finite\n", text.c_str());
  values.assign(5, std::nan(""));
  STRCMP_EQUAL("loss: no finite values to draw\n", plot_curve(values, {.title = "loss"}).c_str());
  STRCMP_EQUAL("no finite values to draw\n", plot_curve({}).c_str());
}

TEST(Plot, MoreValuesThanDotsAreAveraged) {
  // Ones and threes in turn: every dot is the mean of many, so the curve is flat at 2.
  std::vector<double> values;
  for (int i = 0; i < 70 * 100; ++i) values.push_back(i % 2 == 0 ? 1 : 3);
  PlotOptions options;
  options.unicode = false;
  const auto text = lines(plot_curve(values, options));
  STRCMP_CONTAINS("2.200 +", text[0].c_str());
  STRCMP_CONTAINS("1.800 +", text[9].c_str());
}

TEST(Plot, ExtremeValuesAreDrawn) {
  for (const std::vector<double>& values :
       {std::vector<double>{0, 0}, std::vector<double>{1.7e308, -1.7e308},
        std::vector<double>{1e-300, 2e-300}, std::vector<double>{5}, std::vector<double>{5e-324, 0},
        std::vector<double>{1, 1 + 1e-15}}) {
    for (const bool unicode : {false, true}) {
      PlotOptions options;
      options.unicode = unicode;
      CHECK_TRUE(widest(plot_curve(values, options)) <= 80);
    }
  }
}
