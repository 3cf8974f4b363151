#include "ports/bare/semihosting.hpp"

#include "ports/bare/semihosting_call.hpp"

namespace thimble::semihosting {

namespace {

enum Operation : std::uintptr_t {
  kOpen = 0x01,
  kWrite = 0x05,
  kRead = 0x06,
  kSeek = 0x0A,
  kFileLength = 0x0C,
  kCommandLine = 0x15,
  kExitExtended = 0x20,
};

constexpr std::uintptr_t kApplicationExit = 0x20026;

/// A call with a block of words as its argument.
template <class... Words>
std::intptr_t call(Operation operation, Words... words) {
  const std::uintptr_t block[] = {std::uintptr_t(words)...};
  return semihosting_call(operation, block);
}

bool seek(File file, std::uint32_t position) { return call(kSeek, file.handle, position) == 0; }

}  // namespace

[[noreturn]] void exit(int status) {
  for (;;) call(kExitExtended, kApplicationExit, status);
}

bool command_line(std::span<char> line) {
  return call(kCommandLine, reinterpret_cast<std::uintptr_t>(line.data()), line.size()) == 0;
}

File open(const char* path, OpenMode mode) {
  std::size_t size = 0;
  while (path[size] != 0) ++size;
  return {call(kOpen, reinterpret_cast<std::uintptr_t>(path), mode, size)};
}

std::intptr_t length(File file) { return call(kFileLength, file.handle); }

bool read_at(File file, std::uint32_t position, std::span<std::byte> to) {
  return seek(file, position) &&
         call(kRead, file.handle, reinterpret_cast<std::uintptr_t>(to.data()), to.size()) == 0;
}

bool write_at(File file, std::uint32_t position, std::span<const std::byte> bytes) {
  return seek(file, position) &&
         call(kWrite, file.handle, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size()) == 0;
}

}  // namespace thimble::semihosting
