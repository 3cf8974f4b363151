#include "tools/terminal/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

namespace thimble {
namespace {

// Beyond these, differences and quotients of values would overflow or vanish.
constexpr double kLargest = 1e300;
constexpr double kSmallest = 1e-290;

struct Range {
  double low;
  double high;

  double width() const { return high - low; }
};

/// Dots that become characters: 2 x 4 braille dots each, or 1 x 2 ASCII ones.
class Canvas {
 public:
  Canvas(int columns, int rows, bool unicode)
      : columns_(columns), unicode_(unicode), cells_(size(columns, rows)) {}

  int dots_across() const { return columns_ * across(); }
  int dots_down() const { return static_cast<int>(cells_.size()) / columns_ * down(); }
  int down() const { return unicode_ ? 4 : 2; }

  void set(int x, int y) {
    const int row = y / down();
    cells_[size(columns_, row) + static_cast<std::size_t>(x / across())] |= bit(x % across(), y % down());
  }

  std::string row(int index) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const unsigned dots = cells_[size(columns_, index) + static_cast<std::size_t>(column)];
      if (dots == 0) {
        text += ' ';
      } else if (unicode_) {
        // U+2800 + dots in UTF-8
        text += {'\xe2', static_cast<char>(0xa0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3f))};
      } else {
        text += " '.:"[dots];
      }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  static std::size_t size(int columns, int rows) {
    return static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  }
  int across() const { return unicode_ ? 2 : 1; }

  std::uint8_t bit(int x, int y) const {
    // Braille counts its upper six dots down the columns; the two lowest were added later.
    constexpr std::uint8_t kBraille[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
    return unicode_ ? kBraille[x][y] : static_cast<std::uint8_t>(1U << y);
  }

  int columns_;
  bool unicode_;
  std::vector<std::uint8_t> cells_;
};

Range finite_range(std::span<const double> values) {
  Range range{HUGE_VAL, -HUGE_VAL};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range;
}

/// Mean of the finite values of a bucket; NaN when there are none.
double finite_mean(std::span<const double> values) {
  double sum = 0;
  int count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += std::clamp(value, -kLargest, kLargest);
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
}

std::vector<double> averaged(std::span<const double> values, std::size_t most) {
  const std::size_t buckets = std::min(most, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < buckets; ++i) {
    const std::size_t begin = i * values.size() / buckets;
    const std::size_t end = (i + 1) * values.size() / buckets;
    means.push_back(finite_mean(values.subspan(begin, end - begin)));
  }
  return means;
}

/// Draws the values from edge to edge, neighbours joined by lines.
void draw(Canvas& canvas, std::span<const double> values, const Range& range) {
  const int last_x = canvas.dots_across() - 1;
  const int last_y = canvas.dots_down() - 1;
  const auto x_of = [&](std::size_t i) {
    return values.size() < 2 ? 0
                             : static_cast<int>(i * static_cast<std::size_t>(last_x) / (values.size() - 1));
  };
  const auto y_of = [&](double value) {
    return static_cast<int>(std::lround((range.high - value) / range.width() * last_y));
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    int y = y_of(values[i]);
    canvas.set(x_of(i), y);
    if (i + 1 == values.size() || !std::isfinite(values[i + 1])) continue;
    const int x_begin = x_of(i);
    const int x_end = x_of(i + 1);
    for (int x = x_begin + 1; x <= x_end; ++x) {
      const double share = static_cast<double>(x - x_begin) / (x_end - x_begin);
      const int next = y_of(std::lerp(values[i], values[i + 1], share));
      do {
        y += y < next ? 1 : y > next ? -1 : 0;
        canvas.set(x, y);
      } while (y != next);
    }
  }
}

/// A label with as many decimals as tell the labels of this range apart.
std::string label(double value, const Range& range) {
  const double largest = std::max(std::fabs(range.low), std::fabs(range.high));
  const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(range.width()))));
  char text[64];
  if (largest >= 1e7 || decimals > 8) {
    std::snprintf(text, sizeof text, "%.4g", value);
  } else {
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
  }
  return text;
}

/// Labels of the first row, the last, and every third between; the others are empty.
std::vector<std::string> row_labels(int height, const Range& range) {
  std::vector<std::string> labels(static_cast<std::size_t>(height));
  for (int row = 0; row < height; ++row) {
    const bool labelled = row == height - 1 || (row % 3 == 0 && row != height - 2);
    if (!labelled) continue;
    const double value = std::lerp(range.high, range.low, static_cast<double>(row) / (height - 1));
    labels[static_cast<std::size_t>(row)] = label(value, range);
  }
  return labels;
}

std::string x_text(double x) {
  char text[32];
  if (x == std::floor(x) && std::fabs(x) < 1e15) return grouped(static_cast<std::int64_t>(x));
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

/// First and last x at the edges, the title between them.
std::string x_line(std::size_t count, int columns, const PlotOptions& options) {
  const std::string first = x_text(options.first_x);
  const std::string last = x_text(options.first_x + options.x_step * static_cast<double>(count - 1));
  const auto width = static_cast<std::size_t>(columns);
  if (count < 2 || first.size() + last.size() + 2 > width) return first;
  const std::size_t left = width - first.size() - last.size();
  const std::string title = display_width(options.x_title) + 2 <= left ? options.x_title : "";
  const std::size_t before = (left - display_width(title)) / 2;
  return first + std::string(before, ' ') + title + std::string(left - before - display_width(title), ' ') +
         last;
}

std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace

std::string plot_curve(std::span<const double> values, const PlotOptions& options) {
  constexpr int kUsualLabel = 10;  // columns; the labels' true width follows from what is averaged here
  const int width = std::max(24, options.width);
  const int height = std::max(2, options.height);
  const std::vector<double> drawn =
      averaged(values, static_cast<std::size_t>((width - kUsualLabel) * (options.unicode ? 2 : 1)));
  Range range = finite_range(drawn);
  std::string text = options.title;
  if (range.low > range.high)
    return text.append(text.empty() ? "" : ": ").append("no finite values to draw\n");
  if (range.width() < kSmallest) {
    const double margin = std::fabs(range.low) < kSmallest ? 1 : std::fabs(range.low) / 10;
    range = {range.low - margin, range.high + margin};
  }
  const std::vector<std::string> labels = row_labels(height, range);
  std::size_t label_width = 0;
  for (const std::string& row : labels) label_width = std::max(label_width, row.size());

  const int columns = width - static_cast<int>(label_width) - 2;
  Canvas canvas(columns, height, options.unicode);
  draw(canvas, drawn, range);
  if (!text.empty()) text += '\n';
  for (int row = 0; row < height; ++row) {
    const std::string& row_label = labels[static_cast<std::size_t>(row)];
    text += padded_left(row_label, label_width) + ' ';
    text += options.unicode ? (row_label.empty() ? "│" : "┤") : (row_label.empty() ? "|" : "+");
    text += canvas.row(row) + '\n';
  }
  text += std::string(label_width + 1, ' ') + (options.unicode ? "└" : "+");
  text += repeated(options.unicode ? "─" : "-", columns) + '\n';
  text += std::string(label_width + 2, ' ') + x_line(values.size(), columns, options) + '\n';
  const auto lost =
      std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  if (lost > 0) text += grouped(lost) + " of " + grouped(std::ssize(values)) + " values are not finite\n";
  return text;
}

}  // namespace thimble
