#pragma once
/// The flash of an emulated board, as the file that QEMU keeps it in. For reading.

#include "core/checkpoint/flash.hpp"
#include "tools/board/board_info.hpp"
#include "tools/files/mapped_file.hpp"

namespace thimble {

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

/// The newest whole checkpoint in a flash; an Error where there is none.
std::vector<std::byte> newest_checkpoint(const Flash& flash, int slots, const std::string& where);

}  // namespace thimble
