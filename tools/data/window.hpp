// What every source of tokens shares: windows of T + 1 ids, and numbers drawn by counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/base/ids.hpp"
#include "core/train/batches.hpp"

namespace thimble {

/// A counter-based generator: the same counter gives the same 32 random bits, whatever was drawn before. That
/// is what lets a resumed run draw the windows an uninterrupted one would have drawn.
using CounterGenerator = std::function<std::uint32_t(std::uint64_t counter)>;

/// A number from 0 to bound - 1 (bound > 0), by counter.
inline std::uint32_t uniform_below(const CounterGenerator& generator, std::uint64_t counter, std::uint32_t bound) {
  return uniform_below(generator(counter), bound);
}

/// Splits windows [row][T + 1] into inputs [row][T] and the targets [row][T] that follow them. A window may
/// end in ignored ids; as inputs these become id 0, which cannot matter: attention is causal and their own
/// targets are ignored too.
void split_windows(std::span<const std::int32_t> windows, std::size_t context, std::span<std::int32_t> inputs,
                   std::span<std::int32_t> targets);

}  // namespace thimble
