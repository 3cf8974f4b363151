#pragma once
/// A board's end of the line to its host: commands in, replies and reports out.

#include "ports/api/port.hpp"
#include "ports/protocol/board.pb.h"
#include "ports/protocol/frame.hpp"

namespace thimble {

class BoardLine {
 public:
  using Command = thimble_board_Command;
  using Reply = thimble_board_Reply;
  using Report = thimble_board_Report;

  explicit BoardLine(const Port& port) : port_(port) {}

  /// Takes what has arrived, up to the end of the next command, at most kMostBytesAtOnce. A command that was done
  /// before is answered from memory.
  void listen();
  /// Has a command arrived that is still to be done?
  bool has_command() const { return has_command_; }
  /// That command. Call `reply` or `forget_command` when done.
  bool read_command(Command& command) const;
  /// Answers the command with that id.
  void reply(std::uint32_t id, const Reply& reply);
  /// A command without an answer.
  void forget_command() { has_command_ = false; }

  void report(const Report& report);
  std::uint32_t damaged_frames() const { return reader_.damaged(); }

 private:
  /// A flood on the line must not keep the board from training.
  static constexpr int kMostBytesAtOnce = 512;

  void take_frame();
  std::size_t frame_of(const Report& report, std::span<std::byte, kFrameBytes> frame) const;

  const Port& port_;
  FrameReader reader_;
  bool has_command_ = false;
  std::uint32_t command_id_ = 0;  ///< of the newest command
  std::size_t reply_bytes_ = 0;   ///< of the reply to it; 0: it is not done yet
  std::byte reply_[kFrameBytes];
};

}  // namespace thimble
