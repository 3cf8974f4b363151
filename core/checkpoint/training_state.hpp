#pragma once
/// What a checkpoint of a training run says beside its tensors, and its translation to the schema's header.

#include "core/checkpoint/entry.hpp"
#include "core/checkpoint/fault.hpp"
#include "core/simd/arch.hpp"
#include "core/train/engine.hpp"

namespace thimble {

/// What a board goes on with by itself after a reset.
struct RunPlan {
  std::uint64_t steps = 0;         ///< optimizer steps of the whole run; 0: not said
  std::uint32_t save_every = 0;    ///< steps between checkpoints; 0: none
  std::uint32_t report_every = 0;  ///< steps between reports; 0: every step
  bool data_from_host = false;     ///< windows come over the line, not from the text in flash
};

struct TrainingState {
  Name model;
  Profile profile = Profile::fused;
  thimble_checkpoint_GptConfig gpt = {};
  bool has_gpt = false;
  TrainOptions options;
  EngineState engine;
  std::uint64_t seed = 0;
  std::uint64_t data_cursor = 0;  ///< micro-batches read since the run began
  std::uint64_t data_hash = 0;    ///< fingerprint of the training data; 0: not known
  std::uint64_t tokens = 0;       ///< read since the run began
  double running_loss = 0;        ///< see next_running_loss
  std::int32_t accumulate = 1;    ///< micro-batches a step
  RunPlan run;
};

/// The exponential mean of the steps' losses after step number `step` (from 0) with `loss`: over about 50 steps.
constexpr double next_running_loss(double mean, std::int64_t step, double loss) {
  const double weight = step < 50 ? 1.0 / double(step + 1) : 0.02;
  return mean + weight * (loss - mean);
}

thimble_checkpoint_Profile message_of(Profile profile);

// Optimizer and schedule as the schema has them. Reading checks every value and names the first that no run can have.
thimble_checkpoint_Optimizer message_of(const OptimizerOptions& options, const BetaPowers& powers = {});
thimble_checkpoint_Schedule message_of(const Schedule& schedule);
Fault read_message(const thimble_checkpoint_Optimizer& message, OptimizerOptions& options);
Fault read_message(const thimble_checkpoint_Schedule& message, Schedule& schedule);

/// A header with all but tensor_table_hash, tensor_count and number_type.
CheckpointHeader header_of(const TrainingState& state);

/// The state that a header tells of; a fault names the first field whose value no run can have.
Fault read_header(const CheckpointHeader& header, TrainingState& state);

}  // namespace thimble
