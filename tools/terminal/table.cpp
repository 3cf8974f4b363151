#include "tools/terminal/table.hpp"

#include <algorithm>
#include <stdexcept>

namespace thimble {
namespace {

constexpr std::string_view kGap = "  ";

bool is_number(std::string_view cell) {
  if (cell.starts_with('-') || cell.starts_with('+')) cell.remove_prefix(1);
  return (!cell.empty() && cell[0] >= '0' && cell[0] <= '9') || cell == "nan" || cell == "inf";
}

}  // namespace

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {}

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() > header_.size()) throw std::logic_error("a table row with more cells than its header");
  cells.resize(header_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t column = 0; column < header_.size(); ++column) {
    std::size_t width = display_width(header_[column]);
    bool numbers = false;
    bool words = false;
    for (const auto& row : rows_) {
      width = std::max(width, display_width(row[column]));
      if (row[column].empty()) continue;
      (is_number(row[column]) ? numbers : words) = true;
    }
    widths.push_back(width);
    right.push_back(numbers && !words);
  }

  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (column > 0) line += kGap;
      line += right[column] ? padded_left(cells[column], widths[column])
                            : padded_right(cells[column], widths[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line(header_);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  add_line(rule);
  for (const auto& row : rows_) add_line(row);
  return text;
}

}  // namespace thimble
