// Builds safetensors files by hand, right and wrong.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::test {

/// Little-endian bytes of an 8-byte length.
inline std::string length_bytes(std::uint64_t length) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i)
    bytes[static_cast<std::size_t>(i)] = static_cast<char>((length >> (8 * i)) & 0xff);
  return bytes;
}

/// A file with this header, stated at its true length.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return length_bytes(header.size()) + std::string(header) + std::string(data);
}

/// Bytes of numbers as they lie in memory.
template <class Number>
std::string number_bytes(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace thimble::test
