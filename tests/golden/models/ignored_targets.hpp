#pragma once
/// targets that do not count (tests/golden/ignored_targets).

#include "models/gpt.hpp"

namespace thimble {

struct IgnoredTargets {
  static constexpr const char* kDescription = "golden: targets that do not count";
  static constexpr GptConfig kConfig{.vocabulary = 11, .context = 6, .width = 4, .heads = 2, .layers = 1,
                                     .activation = Activation::relu, .tied_head = false};
  static constexpr Extent kExtent{.batch = 3, .context = 6};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
