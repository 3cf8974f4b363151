#pragma once
/// Images: built by CMake for a board, and what they take of it.

#include <filesystem>
#include <string>

#include "tools/board/board_info.hpp"
#include "tools/model/model.hpp"

namespace thimble {

struct ImageRequest {
  std::string model;
  std::filesystem::path text;  ///< to train on; empty: a generated list of names, as documents
  bool documents = true;       ///< a document a line
  std::string recompute;       ///< none, blocks, or a list of the values to keep; empty: as the model wants it
  bool fuse_update = true;     ///< where the model's training allows it: less RAM
};

/// What an image takes.
struct ImageSize {
  std::int64_t ram_bytes = 0;         ///< of the main region, stack included where it is there
  std::int64_t second_ram_bytes = 0;
  std::int64_t flash_bytes = 0;
};

struct BoardImage {
  std::filesystem::path elf;
  std::filesystem::path text;  ///< what it carries to train on
  bool documents = true;
  ImageSize size;
};

/// Where the images of a board are built, below the sources of thimble.
std::filesystem::path image_folder(const BoardInfo& board);

/// Builds an image, or takes the one that is up to date. An Error has the compiler's or linker's own words where the
/// model does not fit, and says what to install where something is missing.
BoardImage build_image(const BoardInfo& board, const ImageRequest& request);

/// What an image of a model takes of the two regions of a board's RAM for its arena, before anything is built.
struct ImageArena {
  std::int64_t bytes[2] = {};
  std::int64_t missing_bytes = 0;  ///< of the main region
  bool fits() const { return missing_bytes == 0; }
};
ImageArena image_arena(const Model& model, const BoardInfo& board, const RecomputeChoice& schedule);

/// Reads an ELF file (32 or 64 bits, little-endian).
ImageSize image_size(const std::filesystem::path& elf, const BoardInfo& board);

}  // namespace thimble
