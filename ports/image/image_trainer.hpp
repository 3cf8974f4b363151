#pragma once
/// The trainer of an image's model. Weights are updated within the backward pass where that is wanted and the model's
/// training allows it.

#include "board_config.hpp"
#include "core/train/trainer.hpp"
#include "ports/program/board_recompute.hpp"

namespace thimble {

/// What does not fit the board's RAM does not compile.
template <class Model, RecomputeText recompute, bool fuse_update>
using ImageTrainer = Trainer<Model, Simd<float, Plain<kBoard.profile>>,
                             TrainerOptions{.extent = Model::kExtent,
                                            .recompute = recompute,
                                            .fuse_update = fuse_update &&
                                                           allows_fused_update(Model::kTraining.optimizer),
                                            .optimizer = Model::kTraining.optimizer.kind,
                                            .budget_bytes = kBoard.model_budget_bytes(),
                                            .second_budget_bytes = kBoard.second_budget_bytes()}>;

}  // namespace thimble
