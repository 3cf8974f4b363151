#include "ports/minimal/minimal_port.hpp"

#include "core/base/check.hpp"
#include "ports/api/board_port.hpp"

namespace thimble {

namespace {

std::size_t receive(void*, std::span<std::byte> to) {
  std::size_t n = 0;
  for (int b; n < to.size() && (b = thimble_board_receive()) >= 0; ++n) to[n] = std::byte(b);
  return n;
}

void send(void*, std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) thimble_board_send(std::to_integer<std::uint8_t>(b));
}

/// Asked far more often than the clock wraps around.
std::uint64_t ticks(void*) {
  static std::uint64_t now = 0;
  now += std::uint32_t(thimble_board_microseconds() - std::uint32_t(now));
  return now;
}

void exit(void*, int status) { thimble_board_exit(status); }

bool read(void*, std::uint32_t address, std::span<std::byte> to) {
  return thimble_board_flash_read(address, to.data(), std::uint32_t(to.size())) == 0;
}

bool program(void*, std::uint32_t address, std::span<const std::byte> from) {
  return thimble_board_flash_program(address, from.data(), std::uint32_t(from.size())) == 0;
}

bool erase(void*, std::uint32_t block) { return thimble_board_flash_erase(block) == 0; }

Flash flash() {
  if (thimble_board_flash_block_count == 0) return {};
  const FlashGeometry geometry{thimble_board_flash_block_count, thimble_board_flash_erase_bytes,
                               thimble_board_flash_program_bytes};
  return {nullptr, geometry, read, program, erase};
}

constinit Port the_port{
    .receive = receive,
    .send = send,
    .ticks = ticks,
    .tick_unit = TickUnit::microseconds,
    .flash = {},
    .workers = {},
    .exit = exit,
};

}  // namespace

Port& board_port() {
  the_port.flash = flash();
  return the_port;
}

[[noreturn]] void fatal(const char*, int) { thimble_board_exit(kFatalStatus); }

}  // namespace thimble
