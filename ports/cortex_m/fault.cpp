#include "ports/cortex_m/fault.hpp"

#include "ports/api/board_port.hpp"
#include "ports/bare/image_memory.hpp"
#include "ports/bare/text_line.hpp"
#include "ports/cortex_m/registers.hpp"

namespace thimble {

namespace {

/// What the processor pushes on entry to an exception.
struct ExceptionFrame {
  std::uint32_t r0, r1, r2, r3, r12, lr, pc, status;
};

struct Register {
  const char* name;
  std::uint32_t value;
};

void print(const TextLine& line) { board_port().send(board_port().state, line.bytes()); }

[[gnu::noinline]] void print(std::span<const Register> registers) {
  TextLine line;
  for (const Register& r : registers) line.text(r.name).hexadecimal(r.value, 4);
  print(line.text("\n"));
}

void print_frame(const ExceptionFrame& f) {
  const Register first[] = {{"r0 ", f.r0}, {"  r1 ", f.r1}, {"  r2 ", f.r2}, {"  r3 ", f.r3}, {"  r12 ", f.r12}};
  const Register second[] = {{"pc ", f.pc}, {"  lr ", f.lr}, {"  xpsr ", f.status}};
  print(first);
  print(second);
}

}  // namespace

/// frame: where the stack pointer stood.
extern "C" [[noreturn, gnu::used]] void thimble_report_fault(const ExceptionFrame* frame, std::uint32_t exception) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(frame);
  const bool in_stack = words >= thimble_stack_limit && words + sizeof(ExceptionFrame) / 4 <= thimble_stack_top;
  TextLine line;
  line.text("\nfault: exception ").decimal(exception).text("  sp ");
  line.hexadecimal(std::uint32_t(reinterpret_cast<std::uintptr_t>(frame)), 4);
  line.text(in_stack ? "\n" : "  (outside the stack: overflow?)\n");
  print(line);
  if (in_stack) print_frame(*frame);
#if !defined(__ARM_ARCH_6M__)
  const Register cause[] = {{"cfsr ", cortex_m::configurable_fault()},
                            {"  hfsr ", cortex_m::hard_fault()},
                            {"  mmfar ", cortex_m::memory_fault_address()},
                            {"  bfar ", cortex_m::bus_fault_address()}};
  print(cause);
#endif
  board_port().exit(board_port().state, kFaultStatus);
  for (;;) {
  }
}

/// Goes on below the frame where there is room for the report, else with a fresh stack, since the old one has run over.
extern "C" [[gnu::naked]] void thimble_fault() {
  asm volatile(
      "mrs r0, msp\n\t"
      "mrs r1, ipsr\n\t"
      "ldr r2, =thimble_stack_limit + 768\n\t"
      "cmp r0, r2\n\t"
      "bhs 1f\n\t"
      "ldr r2, =thimble_stack_top\n\t"
      "msr msp, r2\n"
      "1:\n\t"
      "ldr r3, =thimble_report_fault\n\t"
      "bx r3\n\t"
      ".ltorg");
}

}  // namespace thimble
