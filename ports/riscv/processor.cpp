/// Clock, interrupts and fault report of a RISC-V hart.

#include "ports/riscv/processor.hpp"

#include "board_config.hpp"
#include "ports/api/board_port.hpp"
#include "ports/bare/console.hpp"
#include "ports/bare/image_memory.hpp"
#include "ports/bare/start.hpp"
#include "ports/bare/text_line.hpp"
#include "ports/bare/ticks.hpp"

extern "C" {
std::uintptr_t thimble_trap_registers[32];
void thimble_interrupt();
[[noreturn]] void thimble_report_fault();
}

namespace thimble {

namespace {

/// An access below the stack, which lies at the bottom of its RAM, is a fault.
void guard_stack() {
  constexpr std::uintptr_t kBytes = 64 * 1024;
  const auto limit = reinterpret_cast<std::uintptr_t>(thimble_stack_limit);
  THIMBLE_WRITE_CSR(pmpaddr0, riscv::protected_range(limit - kBytes, kBytes));
  THIMBLE_WRITE_CSR(pmpcfg0, riscv::kNobody);
}

}  // namespace

void stop_interrupts() { THIMBLE_CLEAR_CSR(mstatus, riscv::kInterruptsOn); }
void allow_interrupts() { THIMBLE_SET_CSR(mstatus, riscv::kInterruptsOn); }

void allow_console_interrupt(bool on) {
  riscv::plic_enable(kBoard.uart_irq) = on ? 1u << (kBoard.uart_irq % 32) : 0;
}

void start_processor() {
  guard_stack();
  riscv::plic_priority(kBoard.uart_irq) = 1;
  allow_console_interrupt(true);
  riscv::plic_threshold() = 0;
  THIMBLE_SET_CSR(mie, riscv::kMachineExternal);
  allow_interrupts();
}

std::uint64_t ticks() {
#if __riscv_xlen == 64
  return THIMBLE_READ_CSR(minstret);
#else
  for (;;) {
    const std::uint32_t high = THIMBLE_READ_CSR(minstreth);
    const std::uint32_t low = THIMBLE_READ_CSR(minstret);
    if (high == THIMBLE_READ_CSR(minstreth)) return std::uint64_t(high) << 32 | low;
  }
#endif
}

}  // namespace thimble

/// The only interrupt that is on is the console's.
extern "C" [[gnu::interrupt("machine")]] void thimble_interrupt() {
  const std::uint32_t irq = thimble::riscv::plic_claim();
  thimble::console::on_receive_interrupt();
  thimble::riscv::plic_claim() = irq;
}

extern "C" [[noreturn]] void thimble_report_fault() {
  using namespace thimble;
  const Port& port = board_port();
  const auto print = [&](const TextLine& line) { port.send(port.state, line.bytes()); };
  constexpr int kBytes = sizeof(std::uintptr_t);
  TextLine cause;
  cause.text("\nfault: mcause ").hexadecimal(THIMBLE_READ_CSR(mcause), kBytes).text("  mepc ");
  cause.hexadecimal(THIMBLE_READ_CSR(mepc), kBytes).text("  mtval ");
  print(cause.hexadecimal(THIMBLE_READ_CSR(mtval), kBytes).text("\n"));
  for (int first = 0; first < 32; first += 4) {
    TextLine line;
    for (int i = first; i < first + 4; ++i) {
      line.text(i < 10 ? " x" : "x").decimal(std::uint64_t(i)).text(" ");
      line.hexadecimal(thimble_trap_registers[i], kBytes).text(i == first + 3 ? "\n" : "  ");
    }
    print(line);
  }
  port.exit(port.state, kFaultStatus);
  for (;;) {
  }
}
