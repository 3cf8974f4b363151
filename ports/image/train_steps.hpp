#pragma once
/// The training loop of an image: one context of the image's bytes a step. The host runs the same for comparison.

#include <cstddef>
#include <span>

#include "core/train/trainer.hpp"

namespace thimble {

inline constexpr std::uint64_t kImageSeed = 1;

/// The token at a place of the data, which goes round: the byte modulo the vocabulary.
inline std::int32_t image_token(std::span<const std::byte> data, std::size_t place, std::int32_t vocabulary) {
  return std::int32_t(std::to_integer<unsigned>(data[place % data.size()]) % unsigned(vocabulary));
}

/// Trains for `steps` steps; report(step, result, digest) is called after each. Stops at the first that fails.
template <class Model, class Report>
Status train_steps(Engine<float>& engine, std::span<const std::byte> data, int steps, Report report) {
  constexpr Extent extent = Model::kExtent;
  constexpr auto count = std::size_t(extent.tokens());
  engine.initialise(kImageSeed);
  for (int step = 0; step < steps; ++step) {
    std::int32_t tokens[count], targets[count];
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = std::size_t(step) * count + i;
      tokens[i] = image_token(data, place, engine.layout().vocabulary);
      targets[i] = image_token(data, place + 1, engine.layout().vocabulary);
    }
    UpdateResult r;
    const Status s = engine.train_step(tokens, targets, extent, Model::kTraining, r);
    if (s != Status::ok) return s;
    if (r.status != Status::ok) return r.status;
    report(step, r, engine.digest());
  }
  return Status::ok;
}

}  // namespace thimble
