// A folder that lasts as long as the test, and the text of an Error.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tools/files/error.hpp"

namespace thimble::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "thimble-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(pattern, "no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Writes `contents` and returns the path. A new file each time: file systems sync one that is cut and
  /// written again, which would make sweeps over a thousand damaged files slow.
  std::filesystem::path file(std::string_view name, std::string_view contents) const {
    std::filesystem::remove(path_ / name);
    std::ofstream(path_ / name, std::ios::binary) << contents;
    return path_ / name;
  }

  std::size_t entry_count() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::filesystem::path path_;
};

/// The message of the Error that `call` throws, or "no error".
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace thimble::test
