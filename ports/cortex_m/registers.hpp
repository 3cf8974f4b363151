#pragma once
/// The registers of the Cortex-M system control space that the port uses.
/// Source: Arm v6-M, v7-M and v8-M architecture reference manuals, "System Control Space".

#include <cstdint>

namespace thimble {

/// A device register.
inline volatile std::uint32_t& device_register(std::uintptr_t address) {
  return *reinterpret_cast<volatile std::uint32_t*>(address);
}

namespace cortex_m {

inline volatile std::uint32_t& systick_control() { return device_register(0xE000E010); }
inline volatile std::uint32_t& systick_reload() { return device_register(0xE000E014); }
inline volatile std::uint32_t& systick_value() { return device_register(0xE000E018); }
inline volatile std::uint32_t& interrupt_enable(int irq) {
  return device_register(0xE000E100 + 4u * (unsigned(irq) / 32));
}
inline volatile std::uint32_t& interrupt_disable(int irq) {
  return device_register(0xE000E180 + 4u * (unsigned(irq) / 32));
}
inline volatile std::uint32_t& interrupt_state() { return device_register(0xE000ED04); }   // ICSR
inline volatile std::uint32_t& vector_table() { return device_register(0xE000ED08); }      // VTOR; not v6-M
inline volatile std::uint32_t& configurable_fault() { return device_register(0xE000ED28); }
inline volatile std::uint32_t& hard_fault() { return device_register(0xE000ED2C); }
inline volatile std::uint32_t& memory_fault_address() { return device_register(0xE000ED34); }
inline volatile std::uint32_t& bus_fault_address() { return device_register(0xE000ED38); }
inline volatile std::uint32_t& coprocessor_access() { return device_register(0xE000ED88); }  // CPACR

// The memory protection unit of v7-M.
inline volatile std::uint32_t& protection_type() { return device_register(0xE000ED90); }     // MPU_TYPE
inline volatile std::uint32_t& protection_control() { return device_register(0xE000ED94); }  // MPU_CTRL
inline volatile std::uint32_t& protection_region() { return device_register(0xE000ED98); }   // MPU_RNR
inline volatile std::uint32_t& protection_base() { return device_register(0xE000ED9C); }     // MPU_RBAR
inline volatile std::uint32_t& protection_size() { return device_register(0xE000EDA0); }     // MPU_RASR

inline constexpr std::uint32_t kRegionCount = 0xFFu << 8;  ///< of protection_type
inline constexpr std::uint32_t kProtectionOn = 1 | 4;      ///< and what no region covers is as without protection
inline constexpr std::uint32_t kNobody = 1u << 28 | 1;     ///< no access, no execution; the region is on

inline constexpr std::uint32_t kSystickEnable = 1 | 2 | 4;      ///< counting, with interrupt, processor's clock
inline constexpr std::uint32_t kSystickPending = 1u << 26;      ///< of interrupt_state
inline constexpr std::uint32_t kFloatingPointAccess = 0xFu << 20;  ///< of coprocessor_access: CP10 and CP11

}  // namespace cortex_m
}  // namespace thimble
