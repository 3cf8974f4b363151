#pragma once
/// CRC-32C (Castagnoli polynomial, reflected 0x82F63B78, start and end inverted), as in iSCSI (RFC 3720, B.4).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace thimble {

class Crc32c {
 public:
  void add(std::span<const std::byte> bytes);
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xFFFFFFFFu;
};

}  // namespace thimble
