#pragma once
/// The part of start-up that all processors share.

namespace thimble {

/// Fills .data and .bss, paints the stack, starts console and clock, runs constructors and the program; never returns.
extern "C" [[noreturn]] void thimble_start();

/// Supplied by each architecture: starts the clock and opens interrupts.
void start_processor();

/// Supplied by each architecture: between the two no interrupt is taken.
void stop_interrupts();
void allow_interrupts();

/// Supplied by each architecture: the console's interrupt, on or off. While it is off, bytes wait in the UART (and beyond,
/// where the line has flow control; an emulated line has).
void allow_console_interrupt(bool on);

/// Opens what of the port is not constant: the flash.
void start_board_port();

}  // namespace thimble
