#include "tools/board/file_flash.hpp"

#include <algorithm>

#include "core/checkpoint/store.hpp"
#include "tools/files/error.hpp"

namespace thimble {

FileFlash::FileFlash(const std::filesystem::path& path, const BoardInfo& board)
    : file_(path), geometry_(board.checkpoint_flash) {
  const std::uint64_t wanted = std::uint64_t(geometry_.block_count) * geometry_.erase_bytes;
  if (file_.bytes().size() == wanted) return;
  throw Error(path.string(), "has " + std::to_string(file_.bytes().size()) + " bytes, the flash of " + board.name + " " +
                                 std::to_string(wanted), "is it another board's?");
}

Flash FileFlash::flash() {
  const auto read = [](void* self, std::uint32_t address, std::span<std::byte> to) {
    const auto bytes = static_cast<FileFlash*>(self)->file_.bytes();
    if (to.size() > bytes.size() || address > bytes.size() - to.size()) return false;
    std::copy_n(bytes.begin() + address, to.size(), to.begin());
    return true;
  };
  return {this, geometry_, read, [](void*, std::uint32_t, std::span<const std::byte>) { return false; },
          [](void*, std::uint32_t) { return false; }};
}

std::vector<std::byte> newest_checkpoint(const Flash& flash, int slots, const std::string& where) {
  CheckpointStore store(flash, slots);
  store.recover();
  if (!store.holds()) throw Error(where, "holds no whole checkpoint", "");
  std::vector<std::byte> bytes(store.byte_count());
  const ByteSource source = store.source();
  if (!source.read(source.state, 0, bytes)) throw Error(where, "could not be read", "");
  return bytes;
}

}  // namespace thimble
