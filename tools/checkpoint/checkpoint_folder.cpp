#include "tools/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "tools/files/error.hpp"

namespace thimble {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSuffix = ".thimble";
constexpr std::uint64_t kMostNumber = 1'000'000'000'000;

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (fs::exists(folder_, error) && !fs::is_directory(folder_, error)) {
    throw Error(folder_.string(), "is not a folder", "give a folder for the run's checkpoints");
  }
  fs::create_directory(folder_, error);
  if (error) throw Error(folder_.string(), "cannot be made: " + error.message(), "its parent folder must be there");
  // What a killed run was writing when it ended.
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.find(std::string(kSuffix) + ".tmp-") != std::string::npos) {
      fs::remove(entry.path(), error);
    }
  }
}

std::vector<std::uint64_t> CheckpointFolder::numbers() const {
  std::vector<std::uint64_t> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const char* const first = name.data() + kPrefix.size();
    const char* const last = name.data() + name.size() - kSuffix.size();
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(first, last, number);
    const bool ours = fault == std::errc() && end == last && number < kMostNumber &&
                      name == file(number).filename().string() && entry.is_regular_file(error);
    if (ours) list.push_back(number);
  }
  if (error) throw Error(folder_.string(), "cannot be read: " + error.message());
  std::sort(list.rbegin(), list.rend());
  return list;
}

fs::path CheckpointFolder::file(std::uint64_t number) const {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%06llu", static_cast<unsigned long long>(number));
  return folder_ / (std::string(kPrefix) + digits + std::string(kSuffix));
}

std::vector<fs::path> CheckpointFolder::files() const {
  std::vector<fs::path> list;
  for (const std::uint64_t n : numbers()) list.push_back(file(n));
  return list;
}

fs::path CheckpointFolder::next() const {
  const auto list = numbers();
  return file(list.empty() ? 1 : list.front() + 1);
}

void CheckpointFolder::remove_old() const {
  const auto list = numbers();
  std::error_code ignored;
  for (std::size_t i = kKept; i < list.size(); ++i) fs::remove(file(list[i]), ignored);
}

}  // namespace thimble
