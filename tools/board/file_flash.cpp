#include "tools/board/file_flash.hpp"

#include <algorithm>

#include "core/checkpoint/store.hpp"
#include "tools/files/atomic_file.hpp"
#include "tools/files/error.hpp"

namespace thimble {

namespace {

/// The board's program reads its command line, which ends in this path, into 256 bytes.
constexpr std::size_t kMostPathBytes = 200;

std::uint64_t bytes_of(const FlashGeometry& g) { return std::uint64_t(g.block_count) * g.erase_bytes; }

void require_size(const std::filesystem::path& path, std::uint64_t bytes, const BoardInfo& board) {
  const std::uint64_t wanted = bytes_of(board.checkpoint_flash);
  if (bytes == wanted) return;
  throw Error(path.string(),
              "has " + std::to_string(bytes) + " bytes, the flash of " + board.name + " " + std::to_string(wanted),
              "is it another board's?");
}

void make_erased(const std::filesystem::path& path, const FlashGeometry& g) {
  const std::vector<std::byte> block(g.erase_bytes, std::byte{0xFF});
  AtomicFile file(path);
  for (std::uint32_t b = 0; b < g.block_count; ++b) file.write_at(std::uint64_t(b) * g.erase_bytes, block);
  file.commit();
}

}  // namespace

ClaimedFlash::ClaimedFlash(const std::filesystem::path& path, const BoardInfo& board)
    : path_(std::filesystem::absolute(path)) {
  if (path_.string().size() > kMostPathBytes) {
    throw Error(path.string(), "is longer than the " + std::to_string(kMostPathBytes) + " bytes that a board's program reads",
                "give a file with a shorter path");
  }
  if (!std::filesystem::exists(path_)) make_erased(path_, board.checkpoint_flash);
  if (!std::filesystem::is_regular_file(path_)) throw Error(path.string(), "is no file", "give a file for the board's flash");
  require_size(path, std::filesystem::file_size(path_), board);
  lock_.emplace(path_, "is the flash of another run");
}

FileFlash::FileFlash(const std::filesystem::path& path, const BoardInfo& board)
    : file_(path), geometry_(board.checkpoint_flash) {
  require_size(path, file_.bytes().size(), board);
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
