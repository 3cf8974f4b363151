#pragma once
/// tanh layer over the last four embeddings (tests/golden/mlp).

#include "models/mlp.hpp"

namespace thimble {

struct MlpGolden {
  static constexpr const char* kDescription = "golden: tanh layer over the last four embeddings";
  static constexpr MlpConfig kConfig{.vocabulary = 19, .history = 4, .embedding = 5, .hidden = 13};
  static constexpr Extent kExtent{.batch = 2, .context = 7};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_mlp(t, kConfig); }
};

}  // namespace thimble
