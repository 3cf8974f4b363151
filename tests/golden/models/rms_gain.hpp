#pragma once
/// RMS norm with gain (tests/golden/rms_gain).

#include "models/gpt.hpp"

namespace thimble {

struct RmsGain {
  static constexpr const char* kDescription = "golden: RMS norm with gain";
  static constexpr GptConfig kConfig{.vocabulary = 13, .context = 5, .width = 6, .heads = 2, .layers = 1,
                                     .norm = Norm::rmsnorm, .biases = false};
  static constexpr Extent kExtent{.batch = 2, .context = 5};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
