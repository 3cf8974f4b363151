#pragma once
/// The residual stack without its residual connections: the gradient fades on its way back.

#include "models/residual_stack.hpp"

namespace thimble {

struct PlainStack {
  static constexpr const char* kDescription = "32 tanh layers, one after the other";
  static constexpr StackConfig kConfig{.residual = false};
  static constexpr Extent kExtent{};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_stack(t, kConfig); }
};

}  // namespace thimble
