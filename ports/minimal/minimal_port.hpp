#pragma once
/// A port to copy: the contract of ports/api/port.hpp on a handful of C functions that every vendor's SDK has under other
/// names. Write these for your board, add minimal_port.cpp, and any program of thimble runs on it.

#include <cstdint>

extern "C" {

/// A byte that has arrived on the serial line, or -1 where none waits. Never waits. 64 bytes must be buffered behind it
/// (a receive interrupt with a ring), for the program looks only between two kernels.
int thimble_board_receive(void);

/// Gives a byte to the serial line; may wait for room.
void thimble_board_send(std::uint8_t byte);

/// A clock that counts up and wraps around at 2^32.
std::uint32_t thimble_board_microseconds(void);

/// The program has ended, or cannot go on (status 3): blink, halt or reset. Must not return.
[[noreturn]] void thimble_board_exit(int status);

// The flash for checkpoints. A board without one has block_count 0, and the other three are never called.

/// Erase blocks given to checkpoints, bytes of one, and bytes that are programmed at once (at most 256).
extern const std::uint32_t thimble_board_flash_block_count;
extern const std::uint32_t thimble_board_flash_erase_bytes;
extern const std::uint32_t thimble_board_flash_program_bytes;

/// Each returns 0 when done. Addresses count from the first of these blocks; core/checkpoint/flash.hpp has the rules.
int thimble_board_flash_read(std::uint32_t address, void* to, std::uint32_t bytes);
int thimble_board_flash_program(std::uint32_t address, const void* from, std::uint32_t bytes);
int thimble_board_flash_erase(std::uint32_t block);

}  // extern "C"
