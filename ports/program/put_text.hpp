#pragma once
/// Texts into the fixed character fields of messages.

#include <cstddef>
#include <string_view>

namespace thimble {

/// Copies as much of `text` as fits, and a zero.
template <std::size_t size>
constexpr void put_text(char (&field)[size], std::string_view text) {
  std::size_t n = 0;
  for (; n < text.size() && n + 1 < size; ++n) field[n] = text[n];
  field[n] = 0;
}

}  // namespace thimble
