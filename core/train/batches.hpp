#pragma once
/// How a sequence of token ids becomes training batches: the rules that the host and a board share, so that both train
/// on the same windows and a run can move from one to the other.

#include <cstddef>
#include <span>

#include "core/base/digest.hpp"
#include "core/base/philox.hpp"
#include "core/tape/shape.hpp"

namespace thimble {

/// A number from 0 to bound - 1 (bound > 0) from 32 random bits. Multiplies and shifts, so each number's chance is off
/// by less than bound / 2^32 of itself.
constexpr std::uint32_t uniform_below(std::uint32_t random, std::uint32_t bound) {
  return std::uint32_t((std::uint64_t(random) * bound) >> 32);
}

/// How many ids at the end of a sequence are held out: `fraction` of them, rounded down, but at least one window of
/// `window` = context + 1 ids, and never so much that less than one is left. A sequence shorter than two windows holds
/// nothing out, and neither does the fraction 0.
constexpr std::size_t held_out_count(std::size_t count, std::size_t window, double fraction) {
  if (fraction == 0 || count < 2 * window) return 0;
  const std::size_t wanted = std::size_t(fraction * double(count));
  return wanted < window ? window : wanted > count - window ? count - window : wanted;
}

/// Where window number `row` (counted over the whole run) of a training part of `count` ids starts.
constexpr std::uint32_t window_start(std::uint64_t seed, std::uint64_t row, std::size_t count, std::size_t window) {
  return uniform_below(philox(seed, row, std::uint64_t(Stream::data))[0], std::uint32_t(count - window + 1));
}

/// The hash of everything that a run's batches depend on, number by number. Runs may go on with each other's
/// checkpoints where it is equal.
///
/// Of a long sequence: its ids, their number, the number held out, batch and context, the seed. Of documents: each
/// one's ids and their number, in the order of training, then batch and context.
class DataFingerprint {
 public:
  constexpr DataFingerprint& add(std::uint64_t x) {
    digest_.add(std::uint32_t(x));
    digest_.add(std::uint32_t(x >> 32));
    return *this;
  }
  constexpr DataFingerprint& add(const Extent& e) {
    return add(std::uint64_t(e.batch)).add(std::uint64_t(e.context));
  }
  constexpr DataFingerprint& add_id(std::int32_t id) {
    digest_.add(std::uint32_t(id));
    return *this;
  }
  constexpr DataFingerprint& add(std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids) add_id(id);
    return add(std::uint64_t(ids.size()));
  }
  constexpr std::uint64_t value() const { return digest_.value(); }

 private:
  Digest digest_;
};

}  // namespace thimble
