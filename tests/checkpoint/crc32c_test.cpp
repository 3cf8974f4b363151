#include "core/checkpoint/crc32c.hpp"

#include <cstring>

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

std::uint32_t crc_of(const void* bytes, std::size_t n) {
  Crc32c c;
  c.add({static_cast<const std::byte*>(bytes), n});
  return c.value();
}

}  // namespace

TEST_GROUP(Crc32c) {};

TEST(Crc32c, GivesThePublishedValues) {
  CHECK_EQUAL(0xE3069283u, crc_of("123456789", 9));
  unsigned char bytes[32] = {};  // RFC 3720, B.4
  CHECK_EQUAL(0x8A9136AAu, crc_of(bytes, 32));
  std::memset(bytes, 0xFF, 32);
  CHECK_EQUAL(0x62A8AB43u, crc_of(bytes, 32));
  for (int i = 0; i < 32; ++i) bytes[i] = static_cast<unsigned char>(i);
  CHECK_EQUAL(0x46DD794Eu, crc_of(bytes, 32));
}

TEST(Crc32c, IsTheSameInPieces) {
  unsigned char bytes[200];
  for (int i = 0; i < 200; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  const std::uint32_t whole = crc_of(bytes, 200);
  for (std::size_t cut = 0; cut <= 200; ++cut) {
    Crc32c c;
    const auto all = std::as_bytes(std::span(bytes));
    c.add(all.first(cut));
    c.add(all.subspan(cut));
    CHECK_EQUAL(whole, c.value());
  }
}
