#pragma once
/// A row of tools/bench/compare_torch.py.

#include "models/gpt.hpp"

namespace thimble {

struct BenchV96 {
  static constexpr const char* kDescription = "benchmark: V 96, T 32, width 32, 2 heads, 2 layers";
  static constexpr GptConfig kConfig{.vocabulary = 96, .context = 32, .width = 32, .heads = 2, .layers = 2};
  static constexpr Extent kExtent{.batch = 1, .context = 32};
  static constexpr TrainOptions kTraining{.optimizer = {.weight_decay = 0.1}, .schedule = {}};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
