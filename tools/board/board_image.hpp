#pragma once
/// Images: built by CMake for a board, and what they take of it.

#include <filesystem>
#include <memory>
#include <string>

#include "tools/board/board_info.hpp"
#include "tools/board/private_copy.hpp"
#include "tools/model/model.hpp"

namespace thimble {

struct ImageRequest {
  const Model* model = nullptr;
  std::filesystem::path text;  ///< to train on; empty: a generated list of names, as documents
  bool documents = true;       ///< a document a line
  std::string recompute;       ///< a text for schedule_of; empty: as the model wants it
  bool fuse_update = true;     ///< where the model's training allows it: less RAM
};

/// What an image takes.
struct ImageSize {
  std::int64_t ram_bytes = 0;         ///< of the main region, stack included where it is there
  std::int64_t second_ram_bytes = 0;
  std::int64_t flash_bytes = 0;
};

struct BoardImage {
  std::filesystem::path elf;                ///< in the board's folder: the next build for the board replaces it
  std::shared_ptr<const PrivateCopy> copy;  ///< what an emulator runs
  std::filesystem::path text;  ///< what it carries to train on
  bool documents = true;
  ImageSize size;
};

/// Where the images of a board are built, below the sources of thimble.
std::filesystem::path image_folder(const BoardInfo& board);

/// Builds an image, or takes the one that is up to date; waits while another process builds for the same board. An Error
/// says what the model or its text lacks on the board, or what to install where something is missing; otherwise it has the
/// compiler's own words.
BoardImage build_image(const BoardInfo& board, const ImageRequest& request);

/// What an image of a model takes of the two regions of a board's RAM for its arena, before anything is built.
struct ImageArena {
  std::int64_t bytes[2] = {};
  std::int64_t missing_bytes = 0;  ///< of the main region
  bool fits() const { return missing_bytes == 0; }
};
/// `fuse_update`: where the model's training allows it. An Error where the schedule names values that there are not.
ImageArena image_arena(const Model& model, const BoardInfo& board, const std::string& schedule,
                       bool fuse_update = true);

/// The schedule of that text, empty: as the model wants it on a board.
std::string board_schedule(const Model& model, const std::string& recompute);

/// An Error with bytes needed, available and missing and the largest tensors where a model's arena does not fit a board.
void require_room(const Model& model, const BoardInfo& board, const std::string& schedule, bool fuse_update = true);

/// Reads an ELF file (32 or 64 bits, little-endian).
ImageSize image_size(const std::filesystem::path& elf, const BoardInfo& board);

}  // namespace thimble
