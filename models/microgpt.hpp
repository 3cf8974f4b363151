#pragma once
/// The well-known GPT of 4,192 parameters that learns names: one document a step.

#include "models/gpt.hpp"

namespace thimble {

struct Microgpt {
  static constexpr const char* kDescription = "the 4,192-parameter GPT for names: V 27, T 16, width 16, 4 heads";
  static constexpr GptConfig kConfig{.vocabulary = 27, .context = 16, .width = 16, .heads = 4, .layers = 1,
                                     .norm = Norm::rmsnorm, .norm_gain = false, .norm_after_embedding = true,
                                     .final_norm = false, .biases = false, .activation = Activation::relu,
                                     .tied_head = false, .head_tile = 16, .deviation = 0.08,
                                     .scale_residual_init = false};
  static constexpr Extent kExtent{.batch = 1, .context = 16};
  static constexpr TrainOptions kTraining{
      .optimizer = {.beta1 = 0.85, .beta2 = 0.99},
      .schedule = {.kind = ScheduleKind::linear, .peak = 1e-2, .floor = 0, .total_steps = 1000}};
  /// For 75,000 bytes of RAM, stack included: the attention half of the block is computed again.
  static constexpr const char* kBoardRecompute = "h.*.mid,h.*.act,h.*.out";
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
