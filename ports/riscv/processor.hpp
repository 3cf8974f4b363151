#pragma once
/// Control registers of a RISC-V hart, and the interrupt controller of the emulated board.
/// Source: RISC-V Privileged Architecture; RISC-V PLIC Specification; QEMU's memory map of `virt`.

#include <cstdint>

namespace thimble {

/// A device register.
template <class Word>
volatile Word& device_register(std::uintptr_t address) {
  return *reinterpret_cast<volatile Word*>(address);
}

#define THIMBLE_READ_CSR(name)                                       \
  ([] {                                                              \
    std::uintptr_t value;                                            \
    asm volatile("csrr %0, " #name : "=r"(value));                   \
    return value;                                                    \
  }())
#define THIMBLE_SET_CSR(name, bits) asm volatile("csrs " #name ", %0" : : "r"(std::uintptr_t(bits)) : "memory")
#define THIMBLE_CLEAR_CSR(name, bits) asm volatile("csrc " #name ", %0" : : "r"(std::uintptr_t(bits)) : "memory")
#define THIMBLE_WRITE_CSR(name, value) asm volatile("csrw " #name ", %0" : : "r"(std::uintptr_t(value)) : "memory")

namespace riscv {

/// The PLIC, as the first hart's machine mode sees it.
inline constexpr std::uintptr_t kPlic = 0x0C000000;
inline volatile std::uint32_t& plic_priority(int irq) {
  return device_register<std::uint32_t>(kPlic + 4u * unsigned(irq));
}
inline volatile std::uint32_t& plic_enable(int irq) {
  return device_register<std::uint32_t>(kPlic + 0x2000 + 4u * (unsigned(irq) / 32));
}
inline volatile std::uint32_t& plic_threshold() { return device_register<std::uint32_t>(kPlic + 0x200000); }
/// Read: the interrupt to serve. Written: served.
inline volatile std::uint32_t& plic_claim() { return device_register<std::uint32_t>(kPlic + 0x200004); }

inline constexpr std::uintptr_t kMachineExternal = 1u << 11;  ///< of mie
/// Of pmpcfg0: nobody reaches the naturally aligned range of pmpaddr0, machine mode included.
inline constexpr std::uintptr_t kNobody = 0x80 | 0x18;
/// Of pmpaddr0: a range of a power of two of bytes.
inline constexpr std::uintptr_t protected_range(std::uintptr_t base, std::uintptr_t bytes) {
  return base >> 2 | (bytes / 8 - 1);
}
inline constexpr std::uintptr_t kInterruptsOn = 1u << 3;      ///< of mstatus

}  // namespace riscv
}  // namespace thimble
