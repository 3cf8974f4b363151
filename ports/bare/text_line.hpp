#pragma once
/// A line of text in a fixed buffer: what an image without stdio prints with. What does not fit is left out.

#include <cstddef>
#include <cstdint>
#include <span>

namespace thimble {

class TextLine {
 public:
  TextLine& text(const char* s) {
    while (*s != 0) put(*s++);
    return *this;
  }
  TextLine& decimal(std::uint64_t n) {
    char digits[20];
    int count = 0;
    do digits[count++] = char('0' + n % 10);
    while ((n /= 10) > 0);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  /// All digits of a number of `bytes` bytes, leading zeros included.
  TextLine& hexadecimal(std::uint64_t n, int bytes) {
    for (int shift = 8 * bytes - 4; shift >= 0; shift -= 4) put("0123456789abcdef"[(n >> shift) & 15]);
    return *this;
  }
  std::span<const std::byte> bytes() const { return {reinterpret_cast<const std::byte*>(line_), size_}; }

 private:
  void put(char c) {
    if (size_ < sizeof line_) line_[size_++] = c;
  }

  char line_[120];
  std::size_t size_ = 0;
};

}  // namespace thimble
