#pragma once
/// One direction of a serial line that loses, flips and doubles bytes and has bursts of noise: all a function of a seed.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

namespace thimble {

/// How bad a line is: chances per byte.
struct LineFaults {
  double drop = 0;
  double flip = 0;       ///< of one bit
  double duplicate = 0;
  double burst = 0;      ///< that noise of up to 600 bytes begins here
};

class SimLine {
 public:
  SimLine(const LineFaults& faults, std::uint64_t seed) : faults_(faults), seed_(seed) {}

  void write(std::span<const std::byte> bytes);
  /// At most to.size() bytes; returns their number.
  std::size_t read(std::span<std::byte> to);
  std::size_t waiting() const { return bytes_.size(); }
  /// What was under way is lost.
  void clear() { bytes_.clear(); }

  std::uint64_t written() const { return written_; }
  std::uint64_t damaged() const { return damaged_; }  ///< bytes that something was done to

 private:
  bool happens(double chance);
  std::uint32_t draw();

  LineFaults faults_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t damaged_ = 0;
  std::deque<std::byte> bytes_;
};

}  // namespace thimble
