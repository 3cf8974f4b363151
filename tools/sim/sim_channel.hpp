#pragma once
/// The host's end of a simulated line. Waiting on it is what lets the board's time pass.

#include "ports/program/board_program.hpp"
#include "ports/sim/board.hpp"
#include "tools/board/byte_channel.hpp"

namespace thimble {

/// The board has lost its power.
struct PowerCut {};

class SimChannel : public ByteChannel {
 public:
  explicit SimChannel(SimBoard& board) : board_(board) {}

  /// The program that runs on the board since its last reset; null: none.
  void run(BoardProgram* program) { program_ = program; }

  void write(std::span<const std::byte> bytes) override { board_.to_board().write(bytes); }
  std::size_t read(std::span<std::byte> to, std::chrono::milliseconds wait) override;
  std::chrono::milliseconds now() const override {
    return std::chrono::milliseconds(board_.now() * 1000 / SimBoard::kTicksPerSecond);
  }

 private:
  SimBoard& board_;
  BoardProgram* program_ = nullptr;
};

}  // namespace thimble
