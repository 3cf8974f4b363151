// A file that appears whole or not at all: written under a temporary name in the same folder, synced,
// renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace thimble {

/// Until `commit()` returns, whatever stood under the final name stands there still. Destroyed without a
/// commit, it removes its temporary file. Every failure is an `Error` that names the final path.
class AtomicFile {
 public:
  /// Opens the temporary file. Refuses folders, devices and pipes as targets; a symbolic link is followed, so
  /// the link itself stays.
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Writes all of `bytes` at `offset`.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Syncs the contents, renames, syncs the folder. Call once, last.
  void commit();

  const std::filesystem::path& target() const { return target_; }

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

namespace detail {

/// Text of an errno value, e.g. "No space left on device".
std::string system_reason(int error_number);

/// Writes all of `bytes`, continuing after short writes and interrupts. A negative `offset` appends at the
/// file position. Returns 0 or the errno.
int write_all(int descriptor, std::span<const std::byte> bytes, std::int64_t offset);

}  // namespace detail
}  // namespace thimble
