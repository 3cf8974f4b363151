#pragma once
/// The checkpoints of one run in a folder: numbered files, of which the newest few are kept.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace thimble {

/// Files checkpoint-000001.thimble, checkpoint-000002.thimble ... Nothing else in the folder is touched.
class CheckpointFolder {
 public:
  static constexpr int kKept = 2;

  /// Makes the folder where it is missing (its parent must be there). Removes what a killed run left half-written.
  explicit CheckpointFolder(std::filesystem::path folder);

  /// Newest first.
  std::vector<std::filesystem::path> files() const;

  /// Where the next checkpoint goes.
  std::filesystem::path next() const;

  /// Removes all but the newest kKept, once the next is in place.
  void remove_old() const;

 private:
  std::vector<std::uint64_t> numbers() const;
  std::filesystem::path file(std::uint64_t number) const;

  std::filesystem::path folder_;
};

}  // namespace thimble
