#include "tools/data/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "tools/files/error.hpp"
#include "tools/files/text_file.hpp"

namespace thimble {
namespace {

std::string line_text(const std::string& where, std::size_t line) {
  return where + ", line " + std::to_string(line);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Walks through the records of a CSV text.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  /// Reads the next record; false at the end.
  bool next(std::vector<std::string>& fields) {
    if (rest_.empty()) return false;
    fields.clear();
    record_line_ = line_;
    do {
      fields.push_back(field());
    } while (take(','));
    if (!line_end())
      throw Error(line_text(where_, line_), "text follows a closing quote", "put it inside the quotes");
    return true;
  }

  /// Line on which the last record began, counted from 1.
  std::size_t line() const { return record_line_; }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool line_end() {
    if (rest_.empty()) return true;
    const std::size_t size = rest_.starts_with("\r\n") ? 2 : rest_.starts_with('\n') ? 1 : 0;
    rest_.remove_prefix(size);
    line_ += size > 0 ? 1 : 0;
    return size > 0;
  }

  std::string field() { return take('"') ? quoted_field() : plain_field(); }

  std::string plain_field() {
    std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    const bool crlf = end < rest_.size() && rest_[end] == '\n' && end > 0 && rest_[end - 1] == '\r';
    if (crlf) --end;
    const std::string_view text = rest_.substr(0, end);
    if (text.find('"') != text.npos) {
      throw Error(line_text(where_, line_), "a quote inside the unquoted field " + in_quotes(text),
                  "put the field in quotes and double the quote");
    }
    rest_.remove_prefix(end);
    return std::string(text);
  }

  std::string quoted_field() {
    std::string text;
    for (;;) {
      const std::size_t end = rest_.find('"');
      if (end == rest_.npos)
        throw Error(line_text(where_, record_line_), "a quote is opened but never closed");
      text += rest_.substr(0, end);
      line_ += static_cast<std::size_t>(
          std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      rest_.remove_prefix(end + 1);
      if (!take('"')) return text;
      text += '"';
    }
  }

  std::string_view rest_;
  std::string where_;
  std::size_t line_ = 1;
  std::size_t record_line_ = 1;
};

std::size_t find_column(const std::vector<std::string>& header, std::string_view column,
                        const std::string& where) {
  const auto same = [&](const std::string& name) { return name == trimmed(column); };
  const auto found = std::find_if(header.begin(), header.end(), same);
  if (found == header.end()) {
    std::string problem = "has no column " + in_quotes(column) + "; the columns are";
    constexpr std::size_t kMaxShown = 50;
    for (std::size_t i = 0; i < header.size() && i < kMaxShown; ++i) {
      problem += (i == 0 ? " " : ", ") + in_quotes(header[i]);
    }
    if (header.size() > kMaxShown) problem += ", ... (" + std::to_string(header.size()) + " in all)";
    std::string advice = did_you_mean(column, header);
    if (header.size() == 1 && header[0].find_first_of(";\t") != std::string::npos) {
      advice = "separate the fields by commas";
    }
    throw Error(where, problem, advice);
  }
  if (std::find_if(found + 1, header.end(), same) != header.end()) {
    throw Error(where, "has the column " + in_quotes(column) + " twice");
  }
  return static_cast<std::size_t>(found - header.begin());
}

double cell_number(std::string_view cell, const std::string& where) {
  std::string_view text = trimmed(cell);
  if (text.empty()) throw Error(where, "the cell is empty", "fill it or remove the line");
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size();
  if (error == std::errc::result_out_of_range && whole) {
    throw Error(where, in_quotes(cell) + " is outside the range of a double");
  }
  if (error != std::errc() || !whole) {
    const bool comma = cell.find(',') != cell.npos;
    throw Error(where, in_quotes(cell) + " is not a number",
                comma ? "write a decimal point, and no thousands" : "");
  }
  if (!std::isfinite(value))
    throw Error(where, in_quotes(cell) + " is not finite", "fill it or remove the line");
  return value;
}

}  // namespace

std::vector<double> read_csv_column(std::string_view text, std::string_view column,
                                    const std::string& where) {
  CsvReader reader(without_byte_order_mark(text), where);
  std::vector<std::string> fields;
  if (!reader.next(fields)) throw Error(where, "is empty", "the first line must name the columns");
  std::vector<std::string> header;
  for (const std::string& name : fields) header.emplace_back(trimmed(name));
  const std::size_t index = find_column(header, column, where);

  std::vector<double> values;
  std::size_t empty_line = 0;
  while (reader.next(fields)) {
    const bool empty = fields.size() == 1 && fields[0].empty();
    if (empty) {
      if (empty_line == 0) empty_line = reader.line();
      continue;
    }
    if (empty_line != 0) {
      throw Error(line_text(where, empty_line), "is empty, but more data follow", "remove the line");
    }
    if (fields.size() != header.size()) {
      throw Error(line_text(where, reader.line()), "has " + std::to_string(fields.size()) +
                                                       " fields, but the header names " +
                                                       std::to_string(header.size()));
    }
    values.push_back(
        cell_number(fields[index], line_text(where, reader.line()) + ", column " + in_quotes(column)));
  }
  if (values.empty()) throw Error(where, "has a header but no data");
  return values;
}

}  // namespace thimble
