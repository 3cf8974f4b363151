#pragma once
/// Numbers in a checkpoint are little-endian, whatever the machine.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/digest.hpp"

namespace thimble::detail {

/// Reverses the bytes of every number of `width` bytes, in place.
inline void swap_numbers(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t i = 0; i + width <= bytes.size(); i += width) {
    for (std::size_t k = 0; k < width / 2; ++k) {
      const std::byte b = bytes[i + k];
      bytes[i + k] = bytes[i + width - 1 - k];
      bytes[i + width - 1 - k] = b;
    }
  }
}

/// The 32-bit little-endian word at `p`, at any alignment.
inline std::uint32_t word_at(const std::byte* p) {
  return std::uint32_t(p[0]) | std::uint32_t(p[1]) << 8 | std::uint32_t(p[2]) << 16 | std::uint32_t(p[3]) << 24;
}

/// Adds little-endian bytes (a multiple of 4) to a digest.
inline void add_words(Digest& digest, std::span<const std::byte> bytes) {
  Digest d = digest;
  for (std::size_t i = 0; i < bytes.size(); i += 4) d.add(word_at(bytes.data() + i));
  digest = d;
}

}  // namespace thimble::detail
