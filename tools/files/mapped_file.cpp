#include "tools/files/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "tools/files/atomic_file.hpp"
#include "tools/files/error.hpp"

namespace thimble {

MappedFile::MappedFile(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer only to be refused afterwards.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw Error(path.string(), "cannot be opened: " + detail::system_reason(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  const bool regular = known && S_ISREG(status.st_mode);
  const std::size_t size = regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* memory = MAP_FAILED;
  if (size > 0) memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error_number = errno;
  ::close(descriptor);
  if (known && S_ISDIR(status.st_mode)) throw Error(path.string(), "is a folder, not a file");
  if (!regular) throw Error(path.string(), "is not a regular file");
  if (size == 0) throw Error(path.string(), "is empty");
  if (memory == MAP_FAILED)
    throw Error(path.string(), "cannot be read: " + detail::system_reason(error_number));
  bytes_ = {static_cast<const std::byte*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace thimble
