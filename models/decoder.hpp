#pragma once
/// A decoder small enough to follow every number of it: two blocks, exact GELU, nine tokens.

#include "models/gpt.hpp"

namespace thimble {

struct Decoder {
  static constexpr const char* kDescription = "two blocks for study: V 27, T 9, width 16, 2 heads, erf GELU";
  static constexpr GptConfig kConfig{.vocabulary = 27, .context = 9, .width = 16, .heads = 2, .layers = 2,
                                     .activation = Activation::gelu_erf, .head_tile = 16};
  static constexpr Extent kExtent{.batch = 1, .context = 9};
  static constexpr TrainOptions kTraining{
      .optimizer = {.beta2 = 0.95, .weight_decay = 0.1, .clip = 1.0},
      .schedule = {.kind = ScheduleKind::cosine, .peak = 1e-2, .floor = 1e-3, .warmup_steps = 5, .total_steps = 500}};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
