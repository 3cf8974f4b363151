#include "tools/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "tools/files/error.hpp"

namespace thimble {
namespace fs = std::filesystem;

namespace detail {

std::string system_reason(int error_number) {
  return std::generic_category().message(error_number);
}

int write_all(int descriptor, std::span<const std::byte> bytes, std::int64_t offset) {
  constexpr std::size_t kMaxCall = std::size_t{1} << 30;  // Linux writes at most about 2 GiB a call
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kMaxCall);
    const ssize_t done = offset < 0 ? ::write(descriptor, bytes.data(), count)
                                    : ::pwrite(descriptor, bytes.data(), count, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    if (offset >= 0) offset += done;
  }
  return 0;
}

}  // namespace detail

namespace {

fs::path checked_target(const fs::path& given) {
  if (given.empty()) throw Error("output file", "the name is empty", "give a file name");
  std::error_code error;
  fs::path target = given;
  if (fs::is_symlink(given, error)) {
    target = fs::weakly_canonical(given, error);
    if (error) throw Error(given.string(), "is a link that leads to no file", "give a file name");
  }
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) throw Error(given.string(), "is a folder", "give a file name");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(given.string(), "is not a regular file, so it cannot be replaced", "give a file name");
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::exists(folder, error)) {
    throw Error(given.string(), "the folder " + in_quotes(folder.string()) + " does not exist",
                "create it first");
  }
  return target;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& target) : target_(checked_target(target)) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = target_;
    temporary_ += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return;
    if (errno != EEXIST) break;
  }
  throw Error(target_.string(), "cannot be written: " + detail::system_reason(errno));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const int error_number = detail::write_all(descriptor_, bytes, static_cast<std::int64_t>(offset));
  if (error_number == 0) return;
  throw Error(target_.string(), "writing at byte " + std::to_string(offset) + " failed: " +
                                    detail::system_reason(error_number) + "; nothing was replaced");
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) {
    throw Error(target_.string(), "cannot be synced to disk: " + detail::system_reason(errno));
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw Error(target_.string(), "cannot be put in place: " + detail::system_reason(errno));
  }
  ::close(descriptor_);
  descriptor_ = -1;
  // Without this the rename itself may be lost with the power. File systems that cannot sync a folder say so,
  // and there is nothing more to do then.
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  const int folder_descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_descriptor < 0) return;
  ::fsync(folder_descriptor);
  ::close(folder_descriptor);
}

}  // namespace thimble
