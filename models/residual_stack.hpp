#pragma once
/// A deep stack of tanh layers with residual connections, to be compared with the plain stack of the same depth.

#include "core/ops/list.hpp"
#include "core/train/options.hpp"

namespace thimble {

struct StackConfig {
  int layers = 32;
  int width = 64;
  bool residual = true;
  double gain = 0.57;  ///< weights start normal with deviation gain / sqrt(width)
};

/// x -> [x +] tanh(x W + b), `layers` times. The result is the sum of the last layer over the root of its width, so that
/// the gradient that enters the stack has norm 1.
constexpr void build_stack(TapeBuilder& t, const StackConfig& c) {
  ValueId x = t.input("x", Shape::matrix(1, c.width), Init::normal(2));
  for (int i = 0; i < c.layers; ++i) {
    const auto h = [i](const char* rest) { return Name("h.", i, rest); };
    t.begin_block(i, x);
    const ValueId w = t.parameter(h(".weight"), Shape::matrix(c.width, c.width),
                                  Init::normal(c.gain / scalar_sqrt(double(c.width))));
    const ValueId b = t.parameter(h(".bias"), Shape::vector(c.width), Init::constant(0));
    const ValueId pre = linear(t, h(".pre"), x, w, b);
    x = c.residual ? add(t, h(".out"), x, tanh(t, h(".act"), pre)) : tanh(t, h(".out"), pre);
  }
  t.end_blocks(x);
  const ValueId share =
      t.input("share", Shape::matrix(1, c.width), Init::constant(1 / scalar_sqrt(double(c.width))));
  sum(t, "sum", multiply(t, "shares", x, share));
}

struct ResidualStack {
  static constexpr const char* kDescription = "32 tanh layers, each added to its input";
  static constexpr StackConfig kConfig{};
  static constexpr Extent kExtent{};
  static constexpr TrainOptions kTraining{};
  static constexpr void build(TapeBuilder& t) { build_stack(t, kConfig); }
};

}  // namespace thimble
