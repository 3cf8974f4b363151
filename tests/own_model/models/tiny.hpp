#pragma once
#include "models/gpt.hpp"

struct Tiny {
  static constexpr const char* kDescription = "two small blocks";
  static constexpr thimble::GptConfig kConfig{.vocabulary = 64, .context = 32, .width = 32, .heads = 4, .layers = 2};
  static constexpr thimble::Extent kExtent{.batch = 4, .context = 32};   // default batch and context
  static constexpr thimble::TrainOptions kTraining{};                    // default optimizer and schedule
  static constexpr void build(thimble::TapeBuilder& t) { thimble::build_gpt(t, kConfig); }
};
