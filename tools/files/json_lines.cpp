#include "tools/files/json_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "tools/files/atomic_file.hpp"
#include "tools/files/error.hpp"

namespace thimble {
namespace {

bool ends_inside_line(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  struct stat status {};
  char last = '\n';
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    if (::pread(descriptor, &last, 1, status.st_size - 1) != 1) last = '\n';
  }
  ::close(descriptor);
  return last != '\n';
}

}  // namespace

JsonLinesWriter::JsonLinesWriter(const std::filesystem::path& path) : path_(path) {
  const bool torn = ends_inside_line(path);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw Error(path.string(), "cannot be opened for writing: " + detail::system_reason(errno));
  const std::string line_end = "\n";
  if (torn) detail::write_all(descriptor_, std::as_bytes(std::span(line_end)), -1);
}

JsonLinesWriter::~JsonLinesWriter() {
  ::close(descriptor_);
}

void JsonLinesWriter::write(const nlohmann::ordered_json& value) {
  const std::string line = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const int error_number = detail::write_all(descriptor_, std::as_bytes(std::span(line)), -1);
  if (error_number != 0) {
    throw Error(path_.string(), "the log cannot be written: " + detail::system_reason(error_number));
  }
}

}  // namespace thimble
