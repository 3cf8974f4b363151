#pragma once
/// GPT-2 small (Radford et al., 2019): 124,439,808 parameters.

#include "models/gpt.hpp"

namespace thimble {

struct Gpt2Small {
  static constexpr const char* kDescription = "GPT-2 small, 124M: V 50257, T 1024, width 768, 12 heads, 12 layers";
  static constexpr GptConfig kConfig{.vocabulary = 50257, .context = 1024, .width = 768, .heads = 12, .layers = 12};
  static constexpr Extent kExtent{.batch = 1, .context = 256};
  static constexpr TrainOptions kTraining{
      .optimizer = {.beta2 = 0.95, .weight_decay = 0.1, .clip = 1.0},
      .schedule = {.kind = ScheduleKind::cosine, .peak = 6e-4, .floor = 6e-5, .warmup_steps = 2000, .total_steps = 600000}};
  static constexpr const char* kRecompute = "elements";
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
