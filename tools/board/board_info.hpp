#pragma once
/// The boards there are: facts of ports/*/boards/*/board.cmake.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/checkpoint/flash.hpp"
#include "core/simd/arch.hpp"

namespace thimble {

struct BoardInfo {
  std::string name;
  std::string part;      ///< the real part whose RAM and flash the linker script enforces
  std::string family;    ///< cortex_m, riscv
  Profile profile = Profile::fused;
  std::vector<std::string> qemu;  ///< the emulator and its options
  std::int64_t ram_bytes = 0;
  std::int64_t second_ram_bytes = 0;  ///< a second region, with the stack and a part of large models; 0: none
  std::int64_t stack_bytes = 0;
  std::int64_t reserve_bytes = 0;  ///< RAM for everything but model and stack
  std::int64_t flash_bytes = 0;
  std::int64_t code_bytes = 0;     ///< of the flash: what is not given to checkpoints
  std::int64_t qemu_flash_bytes = 0;  ///< of that: what the emulator has memory for
  FlashGeometry checkpoint_flash;

  /// The cross compiler of its images.
  const char* compiler() const { return family == "riscv" ? "riscv64-unknown-elf-g++" : "arm-none-eabi-g++"; }
  /// RAM that is left for a model's arena.
  std::int64_t model_budget_bytes() const {
    return ram_bytes - reserve_bytes - (second_ram_bytes == 0 ? stack_bytes : 0);
  }
  /// And in the second region.
  std::int64_t second_budget_bytes() const { return second_ram_bytes == 0 ? 0 : second_ram_bytes - stack_bytes; }
};

const std::vector<BoardInfo>& all_boards();

/// The same as a JSON array, made from the boards' folders when this program is configured.
extern const char* const kBoardFacts;

/// Made-up names, one a line: what an image trains on where no file is given.
extern const char* const kGeneratedNames;

/// The board of that name; an Error that lists them otherwise.
const BoardInfo& find_board(const std::string& name);

}  // namespace thimble
