// Errors for the person at the keyboard: what is wrong, where, and what to do about it.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace thimble {

/// A problem the user can do something about. `what()` reads "where: problem; advice".
class Error : public std::runtime_error {
 public:
  /// @param where    file, and inside it the line, offset or tensor ("a.csv, line 7"); or the option at fault
  /// @param problem  what is wrong, with the numbers
  /// @param advice   what to do; may be empty
  explicit Error(const std::string& where, const std::string& problem, const std::string& advice = {});

  const std::string& where() const { return where_; }
  const std::string& problem() const { return problem_; }
  const std::string& advice() const { return advice_; }

 private:
  std::string where_;
  std::string problem_;
  std::string advice_;
};

/// `text` in single quotes, with control bytes and bytes above 0x7e escaped (\n, \xe2) and a long text cut to
/// 60 bytes, so that hostile names cannot disturb the terminal.
std::string in_quotes(std::string_view text);

/// The candidate with the fewest edits (insert, delete, replace, swap of neighbours; letter case is free)
/// from `name`. Empty when even the best one is too far away (more than a third of the longer word) to be
/// meant.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// "did you mean 'x'?" for the nearest candidate, or an empty string.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace thimble
