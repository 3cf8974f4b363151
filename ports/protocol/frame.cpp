#include "ports/protocol/frame.hpp"

#include "core/checkpoint/crc32c.hpp"

namespace thimble {

namespace {

constexpr std::uint8_t kLongestGroup = 0xFF;  ///< code of 254 bytes that no zero follows

/// Writes bytes in COBS: each group is preceded by its length + 1.
class CobsWriter {
 public:
  explicit CobsWriter(std::byte* to) : to_(to) {}

  void put(std::byte b) {
    if (b != std::byte{0}) to_[size_++] = b;
    if (b == std::byte{0} || size_ - code_at_ == kLongestGroup) begin_group();
  }
  std::size_t finish() {
    to_[code_at_] = std::byte(size_ - code_at_);
    return size_;
  }

 private:
  void begin_group() {
    to_[code_at_] = std::byte(size_ - code_at_);
    code_at_ = size_++;
  }

  std::byte* to_;
  std::size_t code_at_ = 0;
  std::size_t size_ = 1;
};

}  // namespace

std::size_t make_frame(std::span<const std::byte> payload, std::span<std::byte, kFrameBytes> frame) {
  Crc32c crc;
  crc.add(payload);
  frame[0] = std::byte{0};
  CobsWriter writer(frame.data() + 1);
  for (const std::byte b : payload) writer.put(b);
  for (int k = 0; k < 4; ++k) writer.put(std::byte(crc.value() >> (8 * k)));
  const std::size_t size = 1 + writer.finish();
  frame[size] = std::byte{0};
  return size + 1;
}

bool FrameReader::take(std::byte b) {
  if (b == std::byte{0}) return end();
  begun_ = true;
  if (left_ == 0) {
    if (zero_follows_ && fill_ < sizeof(buffer_)) buffer_[fill_++] = std::byte{0};
    else if (zero_follows_) overflow_ = true;
    left_ = std::uint8_t(b) - 1;
    zero_follows_ = std::uint8_t(b) != kLongestGroup;
    return false;
  }
  --left_;
  if (fill_ < sizeof(buffer_)) buffer_[fill_++] = b;
  else overflow_ = true;
  return false;
}

/// At a zero: is what stands before it a frame? Nothing at all is none and no damage.
bool FrameReader::end() {
  const bool begun = begun_;
  bool whole = begun && left_ == 0 && !overflow_ && fill_ >= 4;
  if (whole) {
    size_ = fill_ - 4;
    Crc32c crc;
    crc.add(payload());
    for (std::size_t k = 0; k < 4; ++k) whole = whole && buffer_[size_ + k] == std::byte(crc.value() >> (8 * k));
  }
  damaged_ += begun && !whole;
  restart();
  return whole;
}

void FrameReader::restart() {
  fill_ = 0;
  left_ = 0;
  zero_follows_ = overflow_ = begun_ = false;
}

}  // namespace thimble
