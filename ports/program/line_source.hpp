#pragma once
/// A checkpoint that comes over the line: the board asks for its bytes in the order in which it reads them.

#include "core/checkpoint/bytes.hpp"
#include "ports/program/board_line.hpp"

namespace thimble {

class LineSource {
 public:
  LineSource(BoardLine& line, const Port& port) : line_(line), port_(port) {}

  /// Asks for the first bytes and the size. False: nobody answers.
  bool open() { return fetch(0); }
  ByteSource source() { return {this, read, total_}; }
  /// Has a second reading begun? Then an engine that loads from this source may hold some of its numbers.
  bool changed_weights() const { return readings_ > 1; }

 private:
  static constexpr int kTries = 40;
  static constexpr std::uint64_t kTriesPerSecond = 4;

  static bool read(void* self, std::uint64_t offset, std::span<std::byte> to);
  bool fetch(std::uint64_t offset);
  bool take(const thimble_board_CheckpointBytes& bytes, std::uint64_t offset);

  BoardLine& line_;
  const Port& port_;
  std::uint64_t total_ = 0;
  std::uint64_t offset_ = 0;  ///< of the bytes that are here
  std::size_t size_ = 0;
  int readings_ = 0;
  std::byte bytes_[sizeof(thimble_board_CheckpointBytes::bytes.bytes)];
};

}  // namespace thimble
