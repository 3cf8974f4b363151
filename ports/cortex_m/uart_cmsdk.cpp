/// The UART of Arm's Cortex-M system design kit (mps2 and mps3 boards).
/// Source: Arm DDI 0479, "APB UART".

#include "board_config.hpp"
#include "ports/bare/uart.hpp"
#include "ports/cortex_m/registers.hpp"

namespace thimble::uart {

namespace {

volatile std::uint32_t& data() { return device_register(kBoard.uart_address); }
volatile std::uint32_t& state() { return device_register(kBoard.uart_address + 0x04); }
volatile std::uint32_t& control() { return device_register(kBoard.uart_address + 0x08); }
volatile std::uint32_t& interrupts() { return device_register(kBoard.uart_address + 0x0C); }
volatile std::uint32_t& divider() { return device_register(kBoard.uart_address + 0x10); }

constexpr std::uint32_t kSendFull = 1, kReceiveFull = 2;           // state
constexpr std::uint32_t kSend = 1, kReceive = 2, kInterrupt = 8;   // control
constexpr std::uint32_t kReceiveInterrupt = 2;                     // interrupts: write to clear

}  // namespace

void start() {
  divider() = kBoard.clock_hz / 115200;
  control() = kSend | kReceive | kInterrupt;
}

void send(std::byte b) {
  while ((state() & kSendFull) != 0) {
  }
  data() = std::uint32_t(b);
}

bool receive(std::byte& b) {
  interrupts() = kReceiveInterrupt;
  if ((state() & kReceiveFull) == 0) return false;
  b = std::byte(data());
  return true;
}

}  // namespace thimble::uart
