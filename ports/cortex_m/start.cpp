/// Reset, vector table and interrupts of a Cortex-M.

#include "ports/bare/start.hpp"

#include "board_config.hpp"
#include "ports/bare/console.hpp"
#include "ports/bare/image_memory.hpp"
#include "ports/cortex_m/fault.hpp"
#include "ports/cortex_m/registers.hpp"
#include "ports/cortex_m/ticks.hpp"

namespace thimble {

extern "C" [[noreturn]] void thimble_reset();

namespace {

/// What the processor reads at reset and at every exception: the initial stack pointer, then handlers by number.
struct VectorTable {
  static constexpr int kExceptions = 16;  // the first is the stack pointer's place
  using Handler = void (*)();

  const std::uint32_t* stack_top = thimble_stack_top;
  Handler handlers[kExceptions - 1 + kBoard.uart_irq + 1];

  /// What nobody asked for is reported as a fault.
  constexpr VectorTable() {
    for (Handler& h : handlers) h = thimble_fault;
    at(1) = thimble_reset;
    at(15) = on_tick_overflow;
    at(kExceptions + kBoard.uart_irq) = console::on_receive_interrupt;
  }
  constexpr Handler& at(int exception) { return handlers[exception - 1]; }
};

[[gnu::section(".vectors"), gnu::used]] constinit const VectorTable vector_table;

/// An access below the stack is a fault, also where the board has something there.
void guard_stack() {
  const auto limit = std::uint32_t(reinterpret_cast<std::uintptr_t>(thimble_stack_limit));
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
  asm volatile("msr msplim, %0" : : "r"(limit));
#elif !defined(__ARM_ARCH_6M__)
  if ((cortex_m::protection_type() & cortex_m::kRegionCount) == 0) return;
  constexpr int kMostBits = 16;  // a region's size is a power of two, and its address a multiple of it
  const int alignment = __builtin_ctz(limit), bits = alignment < kMostBits ? alignment : kMostBits;
  cortex_m::protection_region() = 0;
  cortex_m::protection_base() = limit - (1u << bits);
  cortex_m::protection_size() = cortex_m::kNobody | std::uint32_t(bits - 1) << 1;
  cortex_m::protection_control() = cortex_m::kProtectionOn;
  asm volatile("dsb\n\tisb" ::: "memory");
#endif
}

}  // namespace

extern "C" [[noreturn]] void thimble_reset() {
#if defined(__ARM_FP)
  cortex_m::coprocessor_access() = cortex_m::coprocessor_access() | cortex_m::kFloatingPointAccess;
  asm volatile("dsb\n\tisb" ::: "memory");
#endif
#if !defined(__ARM_ARCH_6M__)
  cortex_m::vector_table() = std::uint32_t(reinterpret_cast<std::uintptr_t>(&vector_table));
#endif
  thimble_start();
}

void stop_interrupts() { asm volatile("cpsid i" ::: "memory"); }
void allow_interrupts() { asm volatile("cpsie i" ::: "memory"); }

/// In the interrupt controller, for a UART may hold its line up although it was told not to.
void allow_console_interrupt(bool on) {
  constexpr int irq = kBoard.uart_irq;
  (on ? cortex_m::interrupt_enable(irq) : cortex_m::interrupt_disable(irq)) = 1u << (irq % 32);
}

void start_processor() {
  guard_stack();
  start_ticks();
  allow_console_interrupt(true);
}

}  // namespace thimble
