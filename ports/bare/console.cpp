#include "ports/bare/console.hpp"

#include "ports/bare/receive_ring.hpp"
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

std::size_t receive(std::span<std::byte> to) {
  const std::size_t n = receive_ring.take(to);
  if (n > 0 && receive_paused) {
    receive_paused = false;
    uart::receive_interrupt(true);
  }
  return n;
}

void on_receive_interrupt() {
  for (;;) {
    if (receive_ring.full()) {
      receive_paused = true;
      uart::receive_interrupt(false);
      return;
    }
    std::byte b;
    if (!uart::receive(b)) return;
    receive_ring.put(b);
  }
}

}  // namespace thimble::console
