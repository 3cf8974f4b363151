#include "tools/board/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/files/error.hpp"

namespace thimble {

FileLock::FileLock(const std::filesystem::path& file, const char* if_held)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw Error(file.string(), std::strerror(errno), "");
  while (::flock(descriptor_, if_held == nullptr ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    const int failed = errno;
    ::close(descriptor_);
    if (failed == EWOULDBLOCK) throw Error(file.string(), if_held, "wait for its end");
    throw Error(file.string(), std::strerror(failed), "");
  }
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace thimble
