#pragma once
/// odd widths, layernorm, tanh GELU, tied head (tests/golden/layernorm_tanh).

#include "models/gpt.hpp"

namespace thimble {

struct LayernormTanh {
  static constexpr const char* kDescription = "golden: odd widths, layernorm, tanh GELU, tied head";
  static constexpr GptConfig kConfig{.vocabulary = 17, .context = 5, .width = 12, .heads = 3, .layers = 1};
  static constexpr Extent kExtent{.batch = 3, .context = 5};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
