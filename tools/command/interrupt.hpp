#pragma once
/// Ctrl-C and SIGTERM end a run in order: the first sets a flag, a second one ends the program.

#include <atomic>

namespace thimble {

/// Exit status of a run that was interrupted.
inline constexpr int kInterruptedStatus = 130;

/// Catches both from now on. At the first, `text` (a literal, with its line ends) is written to standard error, and the
/// flag that this returns becomes true.
const std::atomic<bool>& catch_interrupts(const char* text);

}  // namespace thimble
