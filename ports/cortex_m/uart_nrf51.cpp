/// The UART of an nRF51, on the pins that the micro:bit wires to its USB interface.
/// Source: Nordic, nRF51 Series Reference Manual, "UART".

#include "board_config.hpp"
#include "ports/bare/uart.hpp"
#include "ports/cortex_m/registers.hpp"

namespace thimble::uart {

namespace {

volatile std::uint32_t& at(std::uintptr_t offset) { return device_register(kBoard.uart_address + offset); }

constexpr std::uintptr_t kStartReceive = 0x000, kStartSend = 0x008, kReceived = 0x108, kSent = 0x11C;
constexpr std::uintptr_t kInterruptOn = 0x304, kInterruptOff = 0x308, kEnable = 0x500, kSendPin = 0x50C;
constexpr std::uintptr_t kReceivePin = 0x514, kReceiveData = 0x518, kSendData = 0x51C, kBaud = 0x524;
constexpr std::uint32_t kReceivedInterrupt = 1u << 2;

}  // namespace

void start() {
  at(kSendPin) = 24;
  at(kReceivePin) = 25;
  at(kBaud) = 0x01D7E000;  // 115200
  at(kEnable) = 4;
  at(kStartSend) = 1;
  at(kStartReceive) = 1;
  at(kInterruptOn) = kReceivedInterrupt;
}

void send(std::byte b) {
  at(kSent) = 0;
  at(kSendData) = std::uint32_t(b);
  while (at(kSent) == 0) {
  }
}

bool receive(std::byte& b) {
  if (at(kReceived) == 0) return false;
  at(kReceived) = 0;
  b = std::byte(at(kReceiveData));
  return true;
}

}  // namespace thimble::uart
