#pragma once
/// The contract of a flash memory. A port supplies the functions.
///
/// Addresses are bytes from the start of the part of the flash that is given to checkpoints. It consists of
/// `block_count` blocks of `erase_bytes` each. `erase` sets all bits of one block. `program` clears bits of a range that
/// has been erased since it was last programmed; address and size are multiples of `program_bytes`. `read` takes any
/// range. Each returns false when the device reports a failure. Power may fail inside `erase` and `program`: what such
/// a call was meant to change then holds anything; nothing else is touched.

#include <cstddef>
#include <cstdint>
#include <span>

namespace thimble {

struct FlashGeometry {
  std::uint32_t block_count = 0;
  std::uint32_t erase_bytes = 0;
  std::uint32_t program_bytes = 1;  ///< divides erase_bytes; at most kFlashPage
};

/// The largest unit of programming that a store can serve, bytes.
inline constexpr std::uint32_t kFlashPage = 512;

struct Flash {
  void* state = nullptr;
  FlashGeometry geometry;
  bool (*read)(void* state, std::uint32_t address, std::span<std::byte> to) = nullptr;
  bool (*program)(void* state, std::uint32_t address, std::span<const std::byte> bytes) = nullptr;
  bool (*erase)(void* state, std::uint32_t block) = nullptr;
};

}  // namespace thimble
