#pragma once
/// What the subcommands of `thimble board` share: which board, over which line.

#include <memory>

#include "tools/board/board_client.hpp"
#include "tools/board/board_image.hpp"
#include "tools/board/fd_channel.hpp"
#include "tools/board/file_flash.hpp"
#include "tools/board/qemu_board.hpp"
#include "tools/command/common.hpp"

namespace thimble {

struct BoardFlags {
  std::string board;
  std::string model;
  std::string text;
  std::string documents;
  std::string recompute;
  bool fuse_update = true;  ///< no flag: the run's own options decide
  std::string serial;
  int baud = 115200;
  std::optional<std::string> flash;
  bool free_running = false;
  bool json = false;

  /// Board and model, positional.
  void add_names_to(CLI::App& command);
  /// What an image is built of.
  void add_image_to(CLI::App& command);
  /// How a board is reached.
  void add_line_to(CLI::App& command);

  ImageRequest request() const;
};

/// A board that can be talked to: a real one on a serial device, or an image in QEMU.
class BoardLink {
 public:
  /// Builds the image where the board is emulated.
  explicit BoardLink(const BoardFlags& flags);

  bool emulated() const { return image_.has_value(); }
  const BoardImage& image() const { return *image_; }
  const BoardInfo& board() const { return board_; }
  BoardClient& client() { return *client_; }

  /// Starts the emulator, or opens the device. Again after `cut_power`.
  void open();
  /// The emulator is killed, at this instant.
  void cut_power();
  /// Tells the program to end; the emulator's exit status, 0 for a real board.
  int close();

 private:
  const BoardFlags& flags_;
  const BoardInfo& board_;
  std::optional<BoardImage> image_;
  std::optional<ClaimedFlash> flash_;
  std::unique_ptr<FdChannel> channel_;
  std::unique_ptr<BoardClient> client_;
};

/// As users read it.
const char* text_of(thimble_board_Activity activity);

}  // namespace thimble
