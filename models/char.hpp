#pragma once
/// The host's default: a GPT over the bytes of a text, learned in a minute.

#include "models/gpt.hpp"

namespace thimble {

struct Char {
  static constexpr const char* kDescription = "bytes of any text, the host's default: V 256, T 64, width 96, 3 layers";
  static constexpr GptConfig kConfig{.vocabulary = 256, .context = 64, .width = 96, .heads = 6, .layers = 3};
  static constexpr Extent kExtent{.batch = 16, .context = 64};
  static constexpr TrainOptions kTraining{
      .optimizer = {.beta2 = 0.99, .weight_decay = 0.1, .clip = 1.0},
      .schedule = {.kind = ScheduleKind::cosine, .peak = 3e-3, .floor = 3e-4, .warmup_steps = 100, .total_steps = 2000}};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
