/// USART1 of an STM32F4 on PA9 and PA10, clocked by the 16 MHz oscillator that runs at reset.
/// Source: ST RM0090, "USART", "RCC", "GPIO".

#include "board_config.hpp"
#include "ports/bare/uart.hpp"
#include "ports/cortex_m/registers.hpp"

namespace thimble::uart {

namespace {

constexpr std::uintptr_t kResetAndClock = 0x40023800, kPortA = 0x40020000;
constexpr std::uint32_t kResetClockHz = 16'000'000;

volatile std::uint32_t& status() { return device_register(kBoard.uart_address); }
volatile std::uint32_t& data() { return device_register(kBoard.uart_address + 0x04); }
volatile std::uint32_t& baud() { return device_register(kBoard.uart_address + 0x08); }
volatile std::uint32_t& control() { return device_register(kBoard.uart_address + 0x0C); }

constexpr std::uint32_t kReceived = 1u << 5, kSendEmpty = 1u << 7;  // status
constexpr std::uint32_t kReceive = 1u << 2, kSend = 1u << 3, kReceiveInterrupt = 1u << 5, kEnable = 1u << 13;

/// Pins 9 and 10 of port A to their seventh function, the USART.
void connect_pins() {
  volatile std::uint32_t& mode = device_register(kPortA);
  volatile std::uint32_t& function = device_register(kPortA + 0x24);
  mode = (mode & ~(0xFu << 18)) | 0xAu << 18;
  function = (function & ~0xFF0u) | 0x770u;
}

}  // namespace

void start() {
  volatile std::uint32_t& port_clocks = device_register(kResetAndClock + 0x30);
  volatile std::uint32_t& usart_clocks = device_register(kResetAndClock + 0x44);
  port_clocks = port_clocks | 1;
  usart_clocks = usart_clocks | 1u << 4;
  connect_pins();
  baud() = kResetClockHz / 115200;
  control() = kEnable | kSend | kReceive | kReceiveInterrupt;
}

void send(std::byte b) {
  while ((status() & kSendEmpty) == 0) {
  }
  data() = std::uint32_t(b);
}

bool receive(std::byte& b) {
  if ((status() & kReceived) == 0) return false;
  b = std::byte(data());
  return true;
}

}  // namespace thimble::uart
