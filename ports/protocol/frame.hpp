#pragma once
/// Frames on a serial line: a payload, its CRC-32C (little-endian), both in COBS (Cheshire and Baker, SIGCOMM 1997), a
/// zero before and after. Whatever the line did to earlier bytes, a reader is in step again at the next zero.

#include <cstddef>
#include <cstdint>
#include <span>

namespace thimble {

/// Payload bytes of the longest frame.
inline constexpr std::size_t kFramePayload = 352;
/// Bytes on the line of the longest frame: zeros, COBS codes and CRC included.
inline constexpr std::size_t kFrameBytes = kFramePayload + 4 + 2 + 2;

/// Writes the frame of a payload (at most kFramePayload bytes) to `frame`; returns its length.
std::size_t make_frame(std::span<const std::byte> payload, std::span<std::byte, kFrameBytes> frame);

/// Takes a frame apart, byte by byte.
class FrameReader {
 public:
  /// True: with this byte a whole, undamaged frame has ended; `payload` holds it until the next call.
  bool take(std::byte b);
  std::span<const std::byte> payload() const { return {buffer_, size_}; }
  /// Frames that were damaged: too long, cut, or with another CRC.
  std::uint32_t damaged() const { return damaged_; }

 private:
  bool end();
  void restart();

  std::byte buffer_[kFramePayload + 4];
  std::size_t fill_ = 0;
  std::size_t size_ = 0;
  std::uint8_t left_ = 0;       ///< bytes until the next code
  bool zero_follows_ = false;   ///< the group that is being read stands before a zero
  bool overflow_ = false;
  bool begun_ = false;
  std::uint32_t damaged_ = 0;
};

}  // namespace thimble
