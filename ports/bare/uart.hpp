#pragma once
/// What a UART driver supplies. An image links one driver; the console (console.hpp) does the rest.

#include <cstddef>

namespace thimble::uart {

/// Turns the UART and its receive interrupt on: 115200 baud, 8 bits, no parity, 1 stop bit.
void start();
/// Gives one byte, waiting until there is room for it.
void send(std::byte b);
/// Takes a byte that has arrived; false where there is none.
bool receive(std::byte& b);

}  // namespace thimble::uart
