/// Frames through a line that does anything to them.

#include "ports/protocol/frame.hpp"

#include <random>
#include <vector>

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::mt19937& random, std::size_t size, int distinct) {
  Bytes bytes(size);
  for (std::byte& b : bytes) b = std::byte(random() % unsigned(distinct));
  return bytes;
}

Bytes frame_of(const Bytes& payload) {
  std::byte frame[kFrameBytes];
  const std::size_t size = make_frame(payload, frame);
  return {frame, frame + size};
}

std::vector<Bytes> read_all(FrameReader& reader, const Bytes& line) {
  std::vector<Bytes> found;
  for (const std::byte b : line) {
    if (reader.take(b)) found.emplace_back(reader.payload().begin(), reader.payload().end());
  }
  return found;
}

}  // namespace

TEST_GROUP(Frame) {
  std::mt19937 random{1};
};

TEST(Frame, EveryLengthComesBack) {
  for (std::size_t size = 0; size <= kFramePayload; ++size) {
    for (const int distinct : {1, 2, 256}) {
      const Bytes payload = random_bytes(random, size, distinct);
      const Bytes line = frame_of(payload);
      CHECK(line.front() == std::byte{0} && line.back() == std::byte{0});
      for (std::size_t i = 1; i + 1 < line.size(); ++i) CHECK(line[i] != std::byte{0});
      FrameReader reader;
      const auto found = read_all(reader, line);
      LONGS_EQUAL(1, found.size());
      CHECK(found[0] == payload);
      LONGS_EQUAL(0, reader.damaged());
    }
  }
}

TEST(Frame, EveryFlippedBitIsSeenAndTheNextFrameArrives) {
  const Bytes payload = random_bytes(random, 60, 3), next = random_bytes(random, 40, 256);
  const Bytes good = frame_of(payload), after = frame_of(next);
  for (std::size_t at = 1; at + 1 < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes line = good;
      line[at] ^= std::byte(1 << bit);
      line.insert(line.end(), after.begin(), after.end());
      FrameReader reader;
      const auto found = read_all(reader, line);
      LONGS_EQUAL(1, found.size());
      CHECK(found[0] == next);
      CHECK(reader.damaged() > 0);
    }
  }
}

TEST(Frame, EveryLostByteIsSeenAndTheNextFrameArrives) {
  const Bytes payload = random_bytes(random, 300, 5), next = random_bytes(random, 40, 256);
  const Bytes good = frame_of(payload), after = frame_of(next);
  for (std::size_t at = 1; at + 1 < good.size(); ++at) {
    Bytes line = good;
    line.erase(line.begin() + std::ptrdiff_t(at));
    line.insert(line.end(), after.begin(), after.end());
    FrameReader reader;
    const auto found = read_all(reader, line);
    CHECK(!found.empty());
    CHECK(found.back() == next);
    LONGS_EQUAL(1, found.size());
  }
}

TEST(Frame, NoiseIsNoFrame) {
  FrameReader reader;
  const auto found = read_all(reader, random_bytes(random, 10'000'000, 256));
  LONGS_EQUAL(0, found.size());
  CHECK(reader.damaged() > 10'000);
}

TEST(Frame, FramesThatAreTooLongAreSkipped) {
  Bytes line = {std::byte{0}};
  for (int i = 0; i < 5000; ++i) line.push_back(std::byte{0xFF});
  const Bytes next = random_bytes(random, 9, 256), after = frame_of(next);
  line.insert(line.end(), after.begin(), after.end());
  FrameReader reader;
  const auto found = read_all(reader, line);
  LONGS_EQUAL(1, found.size());
  CHECK(found[0] == next);
}
