#pragma once
/// What a port supplies, and all that it supplies: a console, a clock, flash, workers; and `fatal` (core/base/check.hpp).
///
/// ports/minimal is a port to copy. A port fills in one Port; programs get it by reference and know no other hardware.

#include "core/base/worker.hpp"
#include "core/checkpoint/flash.hpp"

namespace thimble {

/// What a difference of two ticks counts.
enum class TickUnit : std::uint8_t {
  instructions,  ///< executed instructions: an emulated processor
  microseconds,
  cycles,        ///< of the processor's clock
};

struct Port {
  void* state = nullptr;

  /// Takes bytes that have arrived on the console, at most to.size(); returns their number, 0 where none wait. Never
  /// waits. What arrives while nobody receives may be lost: a port buffers at least 64 bytes.
  std::size_t (*receive)(void* state, std::span<std::byte> to) = nullptr;
  /// Gives bytes to the console; returns when all have been taken.
  void (*send)(void* state, std::span<const std::byte> bytes) = nullptr;

  /// A clock that never goes back.
  std::uint64_t (*ticks)(void* state) = nullptr;
  TickUnit tick_unit = TickUnit::microseconds;
  std::uint64_t ticks_per_second = 1'000'000;  ///< about: for waiting alone

  /// The most stack that has been in use since reset, bytes, of `stack_bytes`. Null: not known.
  std::uint32_t (*stack_high_water)(void* state) = nullptr;
  std::uint32_t stack_bytes = 0;

  /// The part of the flash that is given to checkpoints. A port without it leaves `read` null.
  Flash flash;
  /// Who computes. The default is the calling thread.
  Team workers;

  /// The program has ended with this status. A port that has nowhere to return to (most boards) idles or resets.
  void (*exit)(void* state, int status) = nullptr;
};

}  // namespace thimble
