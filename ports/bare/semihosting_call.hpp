#pragma once
/// The trap instruction of a semihosting call.

#include <cstdint>

namespace thimble::semihosting {

/// argument: the address of the operation's block of words.
inline std::intptr_t semihosting_call(std::uintptr_t operation, const void* argument) {
#if defined(__riscv)
  register std::uintptr_t a0 asm("a0") = operation;
  register const void* a1 asm("a1") = argument;
  // Three uncompressed instructions within one page: that is how the emulator knows the call.
  asm volatile(
      ".option push\n.option norvc\n.balign 16\n"
      "slli zero, zero, 0x1f\nebreak\nsrai zero, zero, 7\n"
      ".option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return std::intptr_t(a0);
#else
  register std::uintptr_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return std::intptr_t(r0);
#endif
}

}  // namespace thimble::semihosting
