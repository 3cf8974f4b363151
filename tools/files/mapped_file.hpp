// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace thimble {

/// Maps a regular, non-empty file. Throws `Error` for a missing or unreadable file, a folder, a device, an
/// empty file. Another program that shortens the file while it is mapped ends this one by a signal (SIGBUS),
/// as with every mapping; files written by `AtomicFile` are replaced, never shortened.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace thimble
