#pragma once
/// A copy of a file that nobody else changes or removes, in memory: it is gone with the object, however this program ends.

#include <filesystem>

namespace thimble {

class PrivateCopy {
 public:
  explicit PrivateCopy(const std::filesystem::path& file);
  ~PrivateCopy();
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  /// Where this process and those that it starts can open it.
  std::filesystem::path path() const;

 private:
  int descriptor_;
};

}  // namespace thimble
