#pragma once
/// two blocks, erf GELU, unfused head (tests/golden/layernorm_erf).

#include "models/gpt.hpp"

namespace thimble {

struct LayernormErf {
  static constexpr const char* kDescription = "golden: two blocks, erf GELU, unfused head";
  static constexpr GptConfig kConfig{.vocabulary = 27, .context = 9, .width = 16, .heads = 2, .layers = 2,
                                     .activation = Activation::gelu_erf, .head_tile = 0};
  static constexpr Extent kExtent{.batch = 1, .context = 9};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
