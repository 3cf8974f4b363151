#pragma once
/// Calls to the debugger or emulator that the processor runs under. On a board that runs alone these stop the
/// processor: only ports whose board is emulated use them.
/// Source: Arm, Semihosting for AArch32 and AArch64 (the numbers); RISC-V, Semihosting (the instruction sequence).

#include <cstddef>
#include <cstdint>
#include <span>

namespace thimble::semihosting {

/// Ends the emulation with this status.
[[noreturn]] void exit(int status);

/// Gets the command line; false where there is none or it does not fit. `line` then ends in zero.
bool command_line(std::span<char> line);

/// A file of the host, opened for reading and writing. handle < 0: not open.
struct File {
  std::intptr_t handle = -1;
};
enum class OpenMode : std::uint8_t {
  existing = 3,   ///< "r+b"
  truncated = 7,  ///< "w+b"
};
File open(const char* path, OpenMode mode);
/// Bytes in a file, or -1.
std::intptr_t length(File file);
bool read_at(File file, std::uint32_t position, std::span<std::byte> to);
bool write_at(File file, std::uint32_t position, std::span<const std::byte> bytes);

}  // namespace thimble::semihosting
