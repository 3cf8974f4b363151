#pragma once
/// When a training run may go on from a checkpoint.

#include <string>

#include "core/checkpoint/training_state.hpp"

namespace thimble {

/// A resumed run must be the one that was begun: every difference would show in the bits. An Error names the first.
void require_same_run(const TrainingState& asked, const TrainingState& found, const std::string& file);

}  // namespace thimble
