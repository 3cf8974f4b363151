#pragma once
/// The trainer of an image's model.

#include "board_config.hpp"
#include "core/train/trainer.hpp"

namespace thimble {

/// What does not fit the board's RAM does not compile.
template <class Model, bool recompute>
using ImageTrainer = Trainer<Model, Simd<float, Plain<kBoard.profile>>,
                             TrainerOptions{.extent = Model::kExtent,
                                            .recompute_blocks = recompute,
                                            .optimizer = Model::kTraining.optimizer.kind,
                                            .budget_bytes = kBoard.model_budget_bytes()}>;

}  // namespace thimble
