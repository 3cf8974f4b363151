#include "ports/bare/ticks.hpp"

#include <numeric>

#include "board_config.hpp"
#include "ports/cortex_m/registers.hpp"
#include "ports/cortex_m/ticks.hpp"

namespace thimble {

namespace {

constexpr std::uint32_t kPeriod = 1u << 24;

constinit volatile std::uint32_t overflow_count = 0;

/// Cycles of the processor's clock. `ticks` may be called where the interrupt is held up: then its pending bit counts.
std::uint64_t cycles() {
  for (;;) {
    const std::uint32_t overflows = overflow_count;
    const std::uint32_t left = cortex_m::systick_value();
    const bool pending = (cortex_m::interrupt_state() & cortex_m::kSystickPending) != 0;
    if (overflows != overflow_count) continue;
    const bool just_over = pending && left > kPeriod / 2;
    return (std::uint64_t(overflows) + just_over) * kPeriod + (kPeriod - 1 - left);
  }
}

}  // namespace

void start_ticks() {
  cortex_m::systick_reload() = kPeriod - 1;
  cortex_m::systick_value() = 0;
  cortex_m::systick_control() = cortex_m::kSystickEnable;
}

void on_tick_overflow() { overflow_count = overflow_count + 1; }

std::uint64_t ticks() {
  // An instruction takes a nanosecond of the emulated time, whatever the board's clock.
  constexpr std::uint32_t kNanoseconds = 1'000'000'000;
  constexpr std::uint32_t kCommon = std::gcd(kNanoseconds, kBoard.clock_hz);
  return cycles() * (kNanoseconds / kCommon) / (kBoard.clock_hz / kCommon);
}

}  // namespace thimble
