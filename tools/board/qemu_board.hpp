#pragma once
/// A board in QEMU, with its serial line.

#include <filesystem>

#include "tools/board/board_info.hpp"
#include "tools/board/fd_channel.hpp"

namespace thimble {

struct QemuOptions {
  std::filesystem::path image;
  std::filesystem::path flash;    ///< file that holds the part of the flash given to checkpoints; empty: none
  bool count_instructions = true; ///< -icount: an instruction takes a nanosecond; off: as fast as it goes
};

class QemuBoard : public FdChannel {
 public:
  /// Starts the emulator; an Error says what to install where it is missing.
  QemuBoard(const BoardInfo& board, const QemuOptions& options);
  ~QemuBoard() override;

  /// Waits for the emulator to end; its exit status, or 128 + a signal's number.
  int wait();
  /// The power fails.
  void kill();
  int process() const { return process_; }

 private:
  std::string last_words() override;
  void start(const std::vector<std::string>& command);

  int process_ = -1;
  int to_board_ = -1;
  int from_board_ = -1;
};

/// The emulator's command line.
std::vector<std::string> qemu_command(const BoardInfo& board, const QemuOptions& options);

}  // namespace thimble
