#pragma once
/// Where a checkpoint's bytes go and come from: a file, a flash slot, a serial line.

#include <cstddef>
#include <cstdint>
#include <span>

namespace thimble {

/// Takes bytes in order. False: they could not be written, and the checkpoint is not whole.
struct ByteSink {
  void* state = nullptr;
  bool (*write)(void* state, std::span<const std::byte> bytes) = nullptr;
};

/// Gives bytes at any offset below `size`. False: they could not be read.
struct ByteSource {
  void* state = nullptr;
  bool (*read)(void* state, std::uint64_t offset, std::span<std::byte> to) = nullptr;
  std::uint64_t size = 0;
};

}  // namespace thimble
