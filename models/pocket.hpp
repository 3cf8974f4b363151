#pragma once
/// A GPT for a board with 256 KiB of RAM: weights, gradients, AdamW's moments and activations together.

#include "models/gpt.hpp"

namespace thimble {

struct Pocket {
  static constexpr const char* kDescription = "for boards with 256 KiB of RAM: V 96, T 32, width 16, 2 layers";
  static constexpr GptConfig kConfig{.vocabulary = 96, .context = 32, .width = 16, .heads = 2, .layers = 2,
                                     .head_tile = 16};
  static constexpr Extent kExtent{.batch = 1, .context = 32};
  static constexpr TrainOptions kTraining{
      .optimizer = {.beta2 = 0.99, .weight_decay = 0.1, .clip = 1.0},
      .schedule = {.kind = ScheduleKind::cosine, .peak = 1e-2, .floor = 1e-3, .warmup_steps = 20, .total_steps = 2000}};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
