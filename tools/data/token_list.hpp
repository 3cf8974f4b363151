// Token ids given outright, in JSON: [step][row][T + 1].
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// Windows to train on in order. All steps have the same number of rows and all rows the same length T + 1.
struct TokenList {
  std::size_t step_count = 0;
  std::size_t row_count = 0;      ///< rows a step (the batch)
  std::size_t window_length = 0;  ///< T + 1
  std::vector<std::int32_t> ids;  ///< [step][row][T + 1]

  /// The rows of one step, [row][T + 1].
  std::span<const std::int32_t> step(std::size_t index) const {
    return std::span(ids).subspan(index * row_count * window_length, row_count * window_length);
  }

  /// One window of T + 1 ids.
  std::span<const std::int32_t> row(std::size_t step_index, std::size_t row_index) const {
    return step(step_index).subspan(row_index * window_length, window_length);
  }
};

/// Reads a JSON array [step][row][T + 1], or an object with such an array as "tokens" (other fields are not
/// looked at). Ids are integers from 0 to vocabulary - 1. A row may end in -1s, ignored targets; a -1 that a
/// token follows would be an input, and is refused. `Error` at `where` names tokens[step][row][position] for
/// a wrong id; ragged rows, empty lists and T above `context` are errors too.
TokenList parse_token_list(std::string_view text, std::size_t vocabulary, std::size_t context,
                           const std::string& where);

/// The same from a file.
TokenList read_token_list(const std::filesystem::path& path, std::size_t vocabulary, std::size_t context);

}  // namespace thimble
