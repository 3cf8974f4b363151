/// The 16550 UART of QEMU's `virt`, whose line has no speed to be set.
/// Source: National Semiconductor, PC16550D.

#include "board_config.hpp"
#include "ports/bare/uart.hpp"
#include "ports/riscv/processor.hpp"

namespace thimble::uart {

namespace {

volatile std::uint8_t& at(std::uintptr_t offset) { return device_register<std::uint8_t>(kBoard.uart_address + offset); }

constexpr std::uintptr_t kData = 0, kInterrupts = 1, kFifo = 2, kLine = 3, kStatus = 5;
constexpr std::uint8_t kEightBits = 3, kFifoOn = 1, kReceived = 1, kSendEmpty = 1u << 5;

}  // namespace

void start() {
  at(kLine) = kEightBits;
  at(kFifo) = kFifoOn;
  at(kInterrupts) = kReceived;
}

void send(std::byte b) {
  while ((at(kStatus) & kSendEmpty) == 0) {
  }
  at(kData) = std::uint8_t(b);
}

bool receive(std::byte& b) {
  if ((at(kStatus) & kReceived) == 0) return false;
  b = std::byte(at(kData));
  return true;
}

}  // namespace thimble::uart
