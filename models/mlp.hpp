#pragma once
/// A neural language model after Bengio et al. (2003): the last few embeddings, one tanh layer, a head.

#include "core/ops/list.hpp"
#include "core/train/options.hpp"

namespace thimble {

struct MlpConfig {
  int vocabulary = 0;
  int history = 4;    ///< how many tokens each prediction sees
  int embedding = 0;
  int hidden = 0;
  int head_tile = 64;
};

constexpr void build_mlp(TapeBuilder& t, const MlpConfig& c) {
  const ValueId tokens = t.ids("tokens");
  const ValueId targets = t.ids("targets");
  const ValueId wte =
      t.parameter("wte.weight", Shape::matrix(c.vocabulary, c.embedding), Init::normal(1));
  const ValueId seen = history(t, "history", embedding(t, "embed", tokens, wte), c.history);
  const int inputs = c.history * c.embedding;
  const ValueId w =
      t.parameter("fc.weight", Shape::matrix(inputs, c.hidden), Init::normal(1 / scalar_sqrt(double(inputs))));
  const ValueId b = t.parameter("fc.bias", Shape::vector(c.hidden), Init::constant(0));
  const ValueId act = tanh(t, "act", linear(t, "pre", seen, w, b));
  const ValueId table = t.parameter("lm_head.weight", Shape::matrix(c.vocabulary, c.hidden),
                                    Init::normal(0.1 / scalar_sqrt(double(c.hidden))));
  head_cross_entropy(t, "loss", act, table, targets, c.head_tile);
}

struct Mlp {
  static constexpr const char* kDescription = "a layer of tanh over the last 4 bytes of a text: V 256, 64 hidden";
  static constexpr MlpConfig kConfig{.vocabulary = 256, .history = 4, .embedding = 16, .hidden = 64};
  static constexpr Extent kExtent{.batch = 16, .context = 32};
  static constexpr TrainOptions kTraining{
      .optimizer = {.weight_decay = 0.01},
      .schedule = {.kind = ScheduleKind::linear, .peak = 1e-2, .floor = 1e-3, .total_steps = 2000}};
  static constexpr void build(TapeBuilder& t) { build_mlp(t, kConfig); }
};

}  // namespace thimble
