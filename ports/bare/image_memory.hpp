#pragma once
/// Where the linker script has put things. Symbols have addresses alone.

#include <cstdint>

extern "C" {
extern std::uint32_t thimble_stack_limit[];  ///< the lowest word of the stack
extern std::uint32_t thimble_stack_top[];    ///< the first word above it
extern std::uint32_t thimble_data_begin[];
extern std::uint32_t thimble_data_end[];
extern const std::uint32_t thimble_data_load[];  ///< the initial values, in flash
extern std::uint32_t thimble_bss_begin[];
extern std::uint32_t thimble_bss_end[];
extern void (*const thimble_init_begin[])();  ///< constructors of static objects
extern void (*const thimble_init_end[])();
}
