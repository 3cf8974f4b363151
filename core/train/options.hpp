#pragma once
/// How a model is trained: optimizer, learning-rate schedule, clipping.

#include "core/train/schedule.hpp"

namespace thimble {

enum class OptimizerKind : std::uint8_t { adamw, sgd };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< of matrices; decoupled for AdamW, added to the gradient for SGD
  double momentum = 0.9;    ///< SGD
  double clip = 0;          ///< largest gradient norm; 0: no clipping

  constexpr int moments() const { return kind == OptimizerKind::adamw ? 2 : momentum != 0 ? 1 : 0; }
};

/// May each weight be updated before all gradients are known? (In windows of one micro-batch.)
constexpr bool allows_fused_update(const OptimizerOptions& o) { return o.clip == 0; }

struct TrainOptions {
  OptimizerOptions optimizer;
  Schedule schedule;
};

}  // namespace thimble
