#include "tools/files/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "tools/files/atomic_file.hpp"
#include "tools/files/error.hpp"

namespace thimble {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void refuse_size(const std::filesystem::path& path, std::size_t max_bytes) {
  throw Error(path.string(), "has more than " + std::to_string(max_bytes) + " bytes", "give a smaller file");
}

}  // namespace

std::string read_file(const std::filesystem::path& path, EmptyFile empty, std::size_t max_bytes) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw Error(path.string(), "cannot be opened: " + detail::system_reason(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw Error(path.string(), "cannot be read: " + detail::system_reason(errno));
  }
  if (S_ISDIR(status.st_mode)) throw Error(path.string(), "is a folder, not a file");
  const std::size_t stated = S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
  if (stated > max_bytes) refuse_size(path, max_bytes);

  // The stated size is only a hint: pipes and files under /proc state none, and a file may grow meanwhile.
  std::string text;
  std::size_t used = 0;
  for (;;) {
    if (text.size() - used < kChunk)
      text.resize(std::max(used + kChunk, used == 0 ? stated + kChunk : 2 * used));
    const ssize_t got = ::read(file.get(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(path.string(),
                  "reading at byte " + std::to_string(used) + " failed: " + detail::system_reason(errno));
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > max_bytes) refuse_size(path, max_bytes);
  }
  text.resize(used);
  if (used == 0 && empty == EmptyFile::kRefused) throw Error(path.string(), "is empty");
  return text;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
}

std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

}  // namespace thimble
