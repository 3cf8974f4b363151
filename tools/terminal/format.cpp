#include "tools/terminal/format.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace thimble {

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first_digit + 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

std::string human_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return grouped(bytes) + " bytes";
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (amount >= 1023.95 && unit + 1 < std::size(kUnits)) {  // 1023.95 would be printed as 1024.0
    amount /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", amount, kUnits[unit]);
  return text;
}

std::string human_seconds(double seconds) {
  constexpr double kMaxSeconds = 3600.0 * 9999;
  if (!(seconds >= 0)) seconds = 0;
  const auto whole = static_cast<int>(std::min(std::round(seconds), kMaxSeconds));
  const int hours = whole / 3600;
  const int minutes = whole / 60 % 60;
  char text[32];
  if (hours > 0) {
    std::snprintf(text, sizeof text, "%d:%02d:%02d", hours, minutes, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%d:%02d", minutes, whole % 60);
  }
  return text;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return width;
}

std::string padded_left(std::string_view text, std::size_t width) {
  const std::size_t have = display_width(text);
  return std::string(width > have ? width - have : 0, ' ').append(text);
}

std::string padded_right(std::string_view text, std::size_t width) {
  const std::size_t have = display_width(text);
  return std::string(text).append(width > have ? width - have : 0, ' ');
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text;
    for (const char* c = value; *c != '\0'; ++c)
      text += *c >= 'A' && *c <= 'Z' ? static_cast<char>(*c + 32) : *c;
    return text.find("utf-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

}  // namespace thimble
