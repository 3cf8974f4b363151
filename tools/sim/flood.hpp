#pragma once
/// Garbage for a serial line, from a seed: random bytes, and real commands' frames with something done to them. No whole
/// frame is in it, for that would be a command.

#include <cstdint>
#include <random>
#include <vector>

#include "ports/protocol/board.pb.h"
#include "ports/protocol/frame.hpp"

namespace thimble {

class Flood {
 public:
  enum class Kind { random, mutated_frames };

  Flood(Kind kind, std::uint64_t seed) : kind_(kind), random_(std::uint32_t(seed)) {}

  /// More garbage: up to two frames long. Valid until the next call.
  std::span<const std::byte> next();

  static constexpr std::size_t kMostBytes = 2 * kFrameBytes;

 private:
  using Bytes = std::vector<std::byte>;

  std::uint32_t below(std::size_t count) { return std::uint32_t(random_() % std::max<std::size_t>(1, count)); }
  Bytes random_bytes(std::size_t size);
  Bytes command_frame();
  void mutate(Bytes& frame);

  Kind kind_;
  std::mt19937 random_;
  FrameReader reader_;  ///< has read all of it
  Bytes bytes_;
};

}  // namespace thimble
