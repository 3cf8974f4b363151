// One long sequence of token ids: a part to train on and a tail held out to judge by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/data/window.hpp"

namespace thimble {

/// Token ids split into a train part and a held-out tail.
///
/// The tail is `held_out_fraction` of the ids, rounded down, but at least one window of context + 1, and
/// never so much that less than one window is left to train on. A text shorter than two windows has no tail,
/// and so has the fraction 0.
class Corpus {
 public:
  /// `Error` at `where` for fewer than context + 1 ids, for more than 2^31 - 1, for a fraction outside [0,
  /// 1).
  Corpus(std::vector<std::int32_t> ids, std::size_t context, double held_out_fraction,
         const std::string& where);

  std::span<const std::int32_t> ids() const { return ids_; }
  std::span<const std::int32_t> train() const { return std::span(ids_).first(train_count_); }
  std::span<const std::int32_t> held_out() const { return std::span(ids_).subspan(train_count_); }

  /// T: inputs a window holds.
  std::size_t context() const { return context_; }

  /// Fills [row][T + 1] with windows of the train part, each start equally likely. Row r draws by counter
  /// `first_counter + r`: give step * rows, and any step can be drawn again.
  void draw_windows(std::span<std::int32_t> rows, const CounterGenerator& generator,
                    std::uint64_t first_counter) const;

  /// Windows that cover the held-out part once, side by side: every id after the first is a target exactly
  /// once.
  std::size_t evaluation_window_count() const;

  /// Writes window `index` (T + 1 ids). The last one is filled up with ignored targets.
  void evaluation_window(std::size_t index, std::span<std::int32_t> window) const;

  /// Entropy of single ids over the whole text: -sum p ln p, nats an id. What a model must beat to have
  /// learned more than how often each id occurs.
  double unigram_entropy() const;

  /// Mean of -ln p over the held-out ids, where p are the train part's frequencies with one added to every
  /// count, so that an id the train part lacks costs something finite. Nats an id; 0 without a held-out part.
  double held_out_unigram_loss() const;

 private:
  std::vector<std::int32_t> ids_;
  std::size_t context_;
  std::size_t train_count_ = 0;
};

}  // namespace thimble
