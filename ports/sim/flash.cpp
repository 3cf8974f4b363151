#include "ports/sim/flash.hpp"

#include <algorithm>

#include "core/base/philox.hpp"

namespace thimble {

SimFlash::SimFlash(const FlashGeometry& geometry, std::uint64_t seed)
    : geometry_(geometry),
      seed_(seed),
      bytes_(std::size_t(geometry.block_count) * geometry.erase_bytes, std::byte{0}),
      erased_(bytes_.size() / geometry.program_bytes, false),
      erases_(geometry.block_count, 0),
      broken_(geometry.block_count, false) {}

Flash SimFlash::flash() { return {this, geometry_, read, program, erase}; }

std::uint32_t SimFlash::draw() { return philox(seed_, draws_++)[0]; }

/// False: no power. torn: the power fails while this operation is under way.
bool SimFlash::begin_operation(bool& torn) {
  if (!powered_) return false;
  torn = operations_left_ == 0;
  if (operations_left_ > 0) --operations_left_;
  if (torn) powered_ = false;
  ++operations_;
  return true;
}

bool SimFlash::read(void* self, std::uint32_t address, std::span<std::byte> to) {
  const SimFlash& f = *static_cast<SimFlash*>(self);
  if (!f.powered_ || to.size() > f.bytes_.size() || address > f.bytes_.size() - to.size()) return false;
  std::copy_n(f.bytes_.begin() + address, to.size(), to.begin());
  return true;
}

bool SimFlash::program(void* self, std::uint32_t address, std::span<const std::byte> from) {
  SimFlash& f = *static_cast<SimFlash*>(self);
  const std::uint32_t unit = f.geometry_.program_bytes;
  const bool fits = from.size() <= f.bytes_.size() && address <= f.bytes_.size() - from.size();
  if (!fits || address % unit != 0 || from.size() % unit != 0) {
    ++f.violations_;
    return false;
  }
  bool torn = false;
  if (!f.begin_operation(torn)) return false;
  // A cut leaves whole units, one unit with some of its bits, and the rest untouched.
  const std::size_t units = from.size() / unit;
  const std::size_t whole = torn ? f.draw() % units : units;
  for (std::size_t u = 0; u < whole + (torn ? 1 : 0); ++u) {
    if (!f.erased_[address / unit + u]) ++f.violations_;
    f.erased_[address / unit + u] = false;
    for (std::size_t i = u * unit; i < (u + 1) * unit; ++i) {
      const std::byte kept = u < whole ? std::byte{0} : std::byte(f.draw());
      f.bytes_[address + i] &= from[i] | kept;
    }
  }
  return !torn;
}

bool SimFlash::erase(void* self, std::uint32_t block) {
  SimFlash& f = *static_cast<SimFlash*>(self);
  bool torn = false;
  if (block >= f.geometry_.block_count || !f.begin_operation(torn)) return false;
  ++f.erases_[block];
  if (f.broken_[block]) return false;
  const std::size_t first = std::size_t(block) * f.geometry_.erase_bytes;
  const std::uint32_t unit = f.geometry_.program_bytes;
  // A cut leaves the old bytes, ones, or bits between, byte by byte, and sometimes almost all of one kind.
  const std::uint32_t mood = torn ? f.draw() % 4 : 0;
  for (std::size_t i = 0; i < f.geometry_.erase_bytes; ++i) {
    const std::uint32_t chance = f.draw() % 64;
    const bool done = !torn || (mood == 0 ? chance < 63 : mood == 1 ? chance == 0 : chance < 32);
    if (done) {
      f.bytes_[first + i] = std::byte{0xFF};
    } else if (mood == 3) {
      f.bytes_[first + i] |= std::byte(f.draw());
    }
    f.erased_[(first + i) / unit] = !torn;
  }
  return !torn;
}

}  // namespace thimble
