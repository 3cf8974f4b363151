#pragma once
/// The flash of an emulated board: the file that QEMU keeps it in.

#include <optional>

#include "core/checkpoint/flash.hpp"
#include "tools/board/board_info.hpp"
#include "tools/board/file_lock.hpp"
#include "tools/files/mapped_file.hpp"

namespace thimble {

/// For reading.
class FileFlash {
 public:
  /// An Error where the file is not of the board's size.
  FileFlash(const std::filesystem::path& path, const BoardInfo& board);

  /// The contract's functions on this file, which must outlive them. It can not be changed.
  Flash flash();

 private:
  MappedFile file_;
  FlashGeometry geometry_;
};

/// The file of an emulated board's flash for one run: made, with all bits set, where there is none, and locked, so that no
/// other run writes it.
class ClaimedFlash {
 public:
  /// An Error where it can be neither made nor written, is not of the board's size, or belongs to another run.
  ClaimedFlash(const std::filesystem::path& path, const BoardInfo& board);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;  ///< absolute
  std::optional<FileLock> lock_;
};

/// The newest whole checkpoint in a flash; an Error where there is none.
std::vector<std::byte> newest_checkpoint(const Flash& flash, int slots, const std::string& where);

}  // namespace thimble
