#pragma once
/// The host's end of the line to a board: commands that are repeated until their reply is there, reports as they come.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ports/protocol/board.pb.h"
#include "ports/protocol/frame.hpp"
#include "tools/board/byte_channel.hpp"

namespace thimble {

class BoardClient {
 public:
  using Command = thimble_board_Command;
  using Reply = thimble_board_Reply;
  using State = thimble_board_State;
  using Step = thimble_board_Step;

  struct Patience {
    std::chrono::milliseconds reply{1000};  ///< until a command is said again
    int tries = 30;
  };

  /// first_id: commands are numbered from there; a board that has been talked to before must not know it.
  BoardClient(ByteChannel& channel, std::uint32_t first_id) : BoardClient(channel, first_id, Patience{}) {}
  BoardClient(ByteChannel& channel, std::uint32_t first_id, Patience patience)
      : channel_(channel), next_id_(first_id == 0 ? 1 : first_id), patience_(patience) {}

  // Called while the client waits.
  std::function<void(const Step&)> on_step;
  std::function<void(const State&)> on_state;        ///< unasked for: after a reset, at the end of a run
  std::function<void(std::string_view)> on_text;     ///< what comes between frames: a board's last words
  /// While nothing comes and a command waits for its reply, ten times a second: for how long. It may throw.
  std::function<void(std::chrono::milliseconds)> on_silence;

  /// Does what has arrived; waits at most so long for the first of it. False: nothing came.
  bool listen(std::chrono::milliseconds wait);

  /// Gives a command (its id is set here) and waits for the reply. An Error where none comes.
  Reply command(Command command, const char* what);
  Reply command(pb_size_t action, const char* what);

  /// The board's state.
  State ask();
  /// What the board says to a command that must be done; an Error names the result and the fault.
  Reply require(Command command, const char* what);
  Reply require(pb_size_t action, const char* what);

  /// The newest checkpoint in the board's flash.
  std::vector<std::byte> pull();
  /// Gives the board a checkpoint to go on from.
  void push(std::span<const std::byte> checkpoint);

  std::uint64_t repeated() const { return repeated_; }  ///< commands that were said again
  std::uint32_t damaged_frames() const { return reader_.damaged(); }

 private:
  void send(const Command& command);
  void take(std::byte b);
  void take_report();
  void say_lines();
  void answer_want(std::uint32_t offset);

  ByteChannel& channel_;
  std::uint32_t next_id_;
  Patience patience_;
  FrameReader reader_;
  std::optional<Reply> reply_;
  std::uint32_t waited_for_ = 0;
  bool heard_ = false;  ///< something whole came since the command was last said
  std::span<const std::byte> pushed_;
  std::string text_;     ///< of the line that is being read
  bool plain_ = false;   ///< it began after a line's end, and is printable so far
  std::vector<std::string> lines_;  ///< since the last zero: a board's words, or the inside of a frame
  std::size_t since_zero_ = 0;      ///< bytes
  std::chrono::milliseconds heard_at_{0};
  std::uint64_t repeated_ = 0;
};

/// Why a board did not do something.
std::string text_of(const BoardClient::Reply& reply);

}  // namespace thimble
