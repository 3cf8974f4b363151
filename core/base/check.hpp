#pragma once
/// THIMBLE_CHECK: our own misuse, caught where it happens. Each port says what `fatal` does.

namespace thimble {

/// Never returns: a board prints and halts, the host prints and aborts.
[[noreturn]] void fatal(const char* file, int line);

}  // namespace thimble

#define THIMBLE_CHECK(condition) \
  do {                           \
    if (!(condition)) ::thimble::fatal(__FILE__, __LINE__); \
  } while (false)
