#include "ports/bare/console.hpp"

#include "ports/bare/receive_ring.hpp"
#include "ports/bare/start.hpp"
#include "ports/bare/uart.hpp"

namespace thimble::console {

namespace {

constinit ReceiveRing receive_ring;
/// The ring was full: the interrupt is off until the program takes bytes, so a flood costs nothing while it trains.
constinit volatile bool receive_paused = false;

}  // namespace

void send(std::span<const std::byte> bytes) {
  for (std::byte b : bytes) uart::send(b);
}

/// Looks at the UART itself where the interrupt may have missed a byte: one that came while it was off raises none.
std::size_t receive(std::span<std::byte> to) {
  const std::size_t n = receive_ring.take(to);
  if (n < to.size() || receive_paused) {
    stop_interrupts();
    on_receive_interrupt();
    allow_interrupts();
  }
  return n;
}

void on_receive_interrupt() {
  std::byte b;
  while (!receive_ring.full() && uart::receive(b)) receive_ring.put(b);
  if (receive_ring.full() != receive_paused) {
    receive_paused = receive_ring.full();
    allow_console_interrupt(!receive_paused);
  }
}

}  // namespace thimble::console
