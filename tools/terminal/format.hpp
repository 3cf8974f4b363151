// Numbers and text as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace thimble {

/// "1,234,567".
std::string grouped(std::int64_t number);

/// "512 bytes", "1.5 KiB", "275.0 MiB": powers of 1024.
std::string human_bytes(std::int64_t bytes);

/// "0:05", "1:02:03": rounded to whole seconds.
std::string human_seconds(double seconds);

/// Columns a UTF-8 text takes, for characters that each take one.
std::size_t display_width(std::string_view text);

/// `text` after or before enough spaces to fill `width` columns.
std::string padded_left(std::string_view text, std::size_t width);
std::string padded_right(std::string_view text, std::size_t width);

/// Whether the user's locale (LC_ALL, else LC_CTYPE, else LANG) is a UTF-8 one.
bool utf8_locale();

}  // namespace thimble
