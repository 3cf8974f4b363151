#pragma once
/// What an image knows about its board.

#include <cstdint>

#include "core/checkpoint/flash.hpp"
#include "core/simd/arch.hpp"

namespace thimble {

struct Board {
  const char* name;
  const char* part;              ///< the real part whose sizes the linker script enforces
  Profile profile;
  std::int64_t ram_bytes;        ///< of the part's main RAM region
  std::int64_t second_ram_bytes;  ///< of a second region; 0: none
  std::uint32_t stack_bytes;
  bool stack_in_ram;             ///< false: the stack lies in the second region
  std::int64_t reserve_bytes;    ///< RAM for everything but model and stack
  std::uint32_t clock_hz;
  std::uintptr_t uart_address;
  int uart_irq;
  FlashGeometry checkpoint_flash;  ///< the part of the flash that is given to checkpoints

  /// RAM that is left for a Trainer.
  constexpr std::int64_t model_budget_bytes() const {
    return ram_bytes - reserve_bytes - (stack_in_ram ? std::int64_t(stack_bytes) : 0);
  }
  /// And in the second region.
  constexpr std::int64_t second_budget_bytes() const {
    return second_ram_bytes == 0 ? 0 : second_ram_bytes - (stack_in_ram ? 0 : std::int64_t(stack_bytes));
  }
};

}  // namespace thimble
