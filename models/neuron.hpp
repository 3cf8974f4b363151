#pragma once
/// A single neuron as a graph: y = tanh(s), s = w1 x1 + w2 x2 + b.

#include "core/ops/list.hpp"
#include "core/train/options.hpp"

namespace thimble {

struct Neuron {
  static constexpr const char* kDescription = "a single neuron, y = tanh(w1 x1 + w2 x2 + b)";
  static constexpr Extent kExtent{};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) {
    const auto input = [&](const char* name, double x) { return t.input(name, Shape::scalar(), Init::constant(x)); };
    const auto weight = [&](const char* name, double x) {
      return t.parameter(name, Shape::scalar(), Init::constant(x));
    };
    const ValueId x1 = input("x1", 2);
    const ValueId x2 = input("x2", 1);
    const ValueId w1 = weight("w1", -0.4);
    const ValueId w2 = weight("w2", 0.5);
    const ValueId b = weight("b", 0.1);
    const ValueId both = add(t, "w1x1_w2x2", multiply(t, "w1x1", w1, x1), multiply(t, "w2x2", w2, x2));
    tanh(t, "y", add(t, "s", both, b));
  }
};

}  // namespace thimble
