#pragma once
/// Philox 4x32-10, a counter-based random generator (Salmon, Moraes, Dror and Shaw, SC 2011): every number is a pure
/// function of a key and a counter, so nothing depends on the order in which numbers are drawn.

#include <array>
#include <cstdint>

namespace thimble {

/// Four independent 32-bit words for (key, counter).
constexpr std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter, std::uint64_t stream = 0) {
  std::uint32_t c0 = std::uint32_t(counter), c1 = std::uint32_t(counter >> 32);
  std::uint32_t c2 = std::uint32_t(stream), c3 = std::uint32_t(stream >> 32);
  std::uint32_t k0 = std::uint32_t(key), k1 = std::uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t(0xD2511F53u) * c0;
    const std::uint64_t p1 = std::uint64_t(0xCD9E8D57u) * c2;
    const std::uint32_t n0 = std::uint32_t(p1 >> 32) ^ c1 ^ k0;
    const std::uint32_t n2 = std::uint32_t(p0 >> 32) ^ c3 ^ k1;
    c1 = std::uint32_t(p1);
    c3 = std::uint32_t(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

/// What a random stream is used for, so that no two uses share numbers.
enum class Stream : std::uint64_t { init = 1, data = 2, sample = 3, shuffle = 4, probe = 5 };

/// Uniform in [0, 1) with 53 bits.
constexpr double uniform(std::uint64_t key, std::uint64_t counter, std::uint64_t stream) {
  const auto w = philox(key, counter, stream);
  return double((std::uint64_t(w[0]) << 21) ^ (w[1] >> 11)) * 0x1p-53;
}

}  // namespace thimble
