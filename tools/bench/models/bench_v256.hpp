#pragma once
/// A row of tools/bench/compare_torch.py.

#include "models/gpt.hpp"

namespace thimble {

struct BenchV256 {
  static constexpr const char* kDescription = "benchmark: V 256, T 128, width 384, 6 heads, 6 layers";
  static constexpr GptConfig kConfig{.vocabulary = 256, .context = 128, .width = 384, .heads = 6, .layers = 6};
  static constexpr Extent kExtent{.batch = 8, .context = 128};
  static constexpr TrainOptions kTraining{.optimizer = {.weight_decay = 0.1}, .schedule = {}};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
