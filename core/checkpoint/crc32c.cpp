#include "core/checkpoint/crc32c.hpp"

#include <cstring>

namespace thimble {

namespace {

/// Bytes taken at a time, with a table of 1 KiB each: a board has flash to save, a host time, x86-64 an instruction.
#ifdef THIMBLE_CRC_SLICES
constexpr int kSlices = THIMBLE_CRC_SLICES;
#elif defined(__unix__) && !defined(__x86_64__)
constexpr int kSlices = 16;
#else
constexpr int kSlices = 1;
#endif

using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables t = {};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    t[0][i] = crc;
  }
  for (std::size_t s = 1; s < kSlices; ++s) {
    for (std::uint32_t i = 0; i < 256; ++i) t[s][i] = t[s - 1][i] >> 8 ^ t[0][t[s - 1][i] & 0xFF];
  }
  return t;
}

constexpr Tables kTables = make_tables();

#ifdef __x86_64__
/// By the processor's instruction, eight bytes at a time; the rest is left.
[[gnu::target("sse4.2")]] std::uint32_t add_words(std::uint32_t crc, const std::byte*& p, std::size_t& n) {
  std::uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return std::uint32_t(wide);
}
#endif

}  // namespace

void Crc32c::add(std::span<const std::byte> bytes) {
  std::uint32_t crc = state_;
  const std::byte* p = bytes.data();
  std::size_t n = bytes.size();
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) crc = add_words(crc, p, n);
#endif
  if constexpr (kSlices > 1) {
    // Byte k of a group still has kSlices - 1 - k bytes to pass through.
    for (; n >= kSlices; n -= kSlices, p += kSlices) {
      std::uint32_t next = 0;
      for (std::size_t k = 0; k < kSlices; ++k) {
        std::uint32_t byte = std::uint32_t(p[k]);
        if (k < 4) byte ^= crc >> (8 * k) & 0xFF;
        next ^= kTables[kSlices - 1 - k][byte];
      }
      crc = next;
    }
  }
  for (; n > 0; --n, ++p) crc = crc >> 8 ^ kTables[0][(crc ^ std::uint32_t(*p)) & 0xFF];
  state_ = crc;
}

}  // namespace thimble
