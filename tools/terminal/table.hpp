// Aligned text tables.
#pragma once

#include <string>
#include <vector>

#include "tools/terminal/format.hpp"

namespace thimble {

/// Rows of cells under a header. A column whose cells are all numbers (with sign, separators, a unit after
/// them; empty cells do not count) is set flush right with its header, any other flush left.
class Table {
 public:
  explicit Table(std::vector<std::string> header);

  /// Adds a row; missing cells are empty. More cells than the header names are a `std::logic_error`.
  void add_row(std::vector<std::string> cells);

  /// Header, a rule of dashes, the rows; each line ends in a line end and has no spaces before it.
  std::string text() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace thimble
