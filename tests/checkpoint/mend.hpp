#pragma once
/// Damaged checkpoints with right CRCs: what an attacker, or a faulty writer, would make.

#include "core/checkpoint/crc32c.hpp"
#include "tests/checkpoint/tiny_run.hpp"

namespace thimble_test {

/// A record's place: its length prefix, its bytes.
struct RecordPlace {
  std::size_t begin = 0;
  std::size_t body = 0;
  std::size_t end = 0;
};

/// The records as their lengths say, up to the first that does not fit.
inline std::vector<RecordPlace> records_of(const Bytes& bytes) {
  std::vector<RecordPlace> list;
  for (std::size_t at = 0; at < bytes.size();) {
    RecordPlace r{at, at, 0};
    std::uint64_t length = 0;
    for (int shift = 0; r.body < bytes.size() && shift < 64; shift += 7) {
      const auto b = std::uint64_t(bytes[r.body++]);
      length |= (b & 0x7F) << shift;
      if (b < 0x80) break;
    }
    if (length > bytes.size() - r.body) break;
    at = r.end = r.body + std::size_t(length);
    list.push_back(r);
  }
  return list;
}

/// Gives every record that ends in a CRC field the right CRC.
inline void mend_crcs(Bytes& bytes) {
  for (const RecordPlace& r : records_of(bytes)) {
    if (r.end - r.body < 5 || bytes[r.end - 5] != std::byte{15 << 3 | 5}) continue;
    Crc32c crc;
    crc.add(std::span(bytes).subspan(r.begin, r.end - 5 - r.begin));
    for (std::size_t k = 0; k < 4; ++k) bytes[r.end - 4 + k] = std::byte(crc.value() >> (8 * k));
  }
}

}  // namespace thimble_test
