#include "tools/board/private_copy.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/files/error.hpp"
#include "tools/files/text_file.hpp"

namespace thimble {

PrivateCopy::PrivateCopy(const std::filesystem::path& file)
    : descriptor_(::memfd_create(file.filename().c_str(), MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(file.string(), std::strerror(errno), "");
  const std::string bytes = read_file(file.string());
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int failed = errno;
      ::close(descriptor_);
      throw Error(file.string(), std::strerror(failed), "");
    }
    done += std::size_t(n);
  }
}

PrivateCopy::~PrivateCopy() { ::close(descriptor_); }

std::filesystem::path PrivateCopy::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
}

}  // namespace thimble
