#pragma once
/// RMS norm without gain, also after the embedding, trained on documents (tests/golden/rms_documents).

#include "models/gpt.hpp"

namespace thimble {

struct RmsDocuments {
  static constexpr const char* kDescription = "golden: RMS norm without gain, also after the embedding, trained on documents";
  static constexpr GptConfig kConfig{.vocabulary = 27, .context = 16, .width = 16, .heads = 4, .layers = 1,
                                     .norm = Norm::rmsnorm, .norm_gain = false, .norm_after_embedding = true,
                                     .final_norm = false, .biases = false, .activation = Activation::relu,
                                     .tied_head = false, .head_tile = 4};
  static constexpr Extent kExtent{.batch = 1, .context = 16};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

}  // namespace thimble
