#pragma once
/// A 64-bit fingerprint of numbers, equal on every machine that holds the same bits.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace thimble {

/// FNV-1a over 32-bit little-endian words (a double counts as two, low word first).
class Digest {
 public:
  constexpr void add(std::uint32_t word) { state_ = (state_ ^ word) * 0x100000001B3ull; }
  constexpr void add(float x) { add(std::bit_cast<std::uint32_t>(x)); }
  constexpr void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    add(std::uint32_t(bits));
    add(std::uint32_t(bits >> 32));
  }
  template <class T>
  constexpr void add(const T* p, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(p[i]);
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325ull;
};

}  // namespace thimble
