#pragma once
/// Where the program of an image gets its port. Every bare-metal port defines this one function.

#include "ports/api/port.hpp"

namespace thimble {

/// The board that the image runs on; ready for use when `main` begins.
Port& board_port();

/// How an image ends when the program did not end it: a failed check, a processor fault.
inline constexpr int kFatalStatus = 3;
inline constexpr int kFaultStatus = 4;

}  // namespace thimble
