#pragma once
/// One process at a time: the lock is held for as long as the object lives, and freed however its process ends.

#include <filesystem>

namespace thimble {

class FileLock {
 public:
  /// Makes the file where there is none; waits until no other process, or object of this one, holds it. With `if_held`, an
  /// Error says that instead.
  explicit FileLock(const std::filesystem::path& file, const char* if_held = nullptr);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace thimble
