#pragma once
/// The console: a UART with a ring of received bytes behind it.

#include <cstddef>
#include <span>

namespace thimble::console {

void send(std::span<const std::byte> bytes);
/// Takes bytes that have arrived, at most to.size(); returns their number. Never waits.
std::size_t receive(std::span<std::byte> to);

/// To be called from the UART's receive interrupt.
void on_receive_interrupt();

}  // namespace thimble::console
