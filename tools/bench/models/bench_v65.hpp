#pragma once
/// A row of tools/bench/compare_torch.py.

#include "models/gpt.hpp"

namespace thimble {

struct BenchV65 {
  static constexpr const char* kDescription = "benchmark: V 65, T 64, width 64, 4 heads, 4 layers";
  static constexpr GptConfig kConfig{.vocabulary = 65, .context = 64, .width = 64, .heads = 4, .layers = 4};
  static constexpr Extent kExtent{.batch = 8, .context = 64};
  static constexpr TrainOptions kTraining{.optimizer = {.weight_decay = 0.1}, .schedule = {}};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
