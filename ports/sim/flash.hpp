#pragma once
/// A NOR flash on the host: erases to ones, programs once, wears, and loses its power at a chosen operation, tearing
/// what was under way.

#include <cstdint>
#include <vector>

#include "core/checkpoint/flash.hpp"

namespace thimble {

class SimFlash {
 public:
  explicit SimFlash(const FlashGeometry& geometry, std::uint64_t seed = 1);

  /// The contract's functions on this flash, which must outlive them.
  Flash flash();

  /// The power fails within the operation (erase or program) after `operations` more. From then on every call fails,
  /// reads too, until power_on.
  void cut_power_after(std::int64_t operations) { operations_left_ = operations; }
  void power_on() {
    powered_ = true;
    operations_left_ = -1;
  }
  /// The power fails now, between two operations.
  void power_off() { powered_ = false; }
  bool powered() const { return powered_; }

  /// Blocks that refuse to be erased from now on.
  void break_block(std::uint32_t block) { broken_[block] = true; }

  std::int64_t operations() const { return operations_; }                ///< erases and programs so far
  const std::vector<std::int64_t>& erases() const { return erases_; }    ///< per block
  std::int64_t violations() const { return violations_; }                ///< programs of what was not erased, unaligned
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  static bool read(void* self, std::uint32_t address, std::span<std::byte> to);
  static bool program(void* self, std::uint32_t address, std::span<const std::byte> from);
  static bool erase(void* self, std::uint32_t block);
  bool begin_operation(bool& torn);
  std::uint32_t draw();

  FlashGeometry geometry_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  bool powered_ = true;
  std::int64_t operations_left_ = -1;
  std::int64_t operations_ = 0;
  std::int64_t violations_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<bool> erased_;  ///< per program unit: erased and not yet programmed
  std::vector<std::int64_t> erases_;
  std::vector<bool> broken_;
};

}  // namespace thimble
