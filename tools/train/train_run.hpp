#pragma once
/// A training run on the host: steps, evaluation, log, progress, interruption.

#include <atomic>
#include <functional>

#include "tools/model/session.hpp"
#include "tools/train/data_source.hpp"

namespace thimble {

struct TrainPlan {
  std::int64_t steps = 0;
  int accumulate = 1;             ///< micro-batches a step
  TrainOptions options;
  std::int64_t evaluate_every = 0;  ///< steps between evaluations; 0: only at the end
  std::size_t evaluation_batches = 8;  ///< held-out batches of an evaluation on the way; the last one takes all
};

/// How far a run has come in its data. A new run begins with the default.
struct TrainPosition {
  std::uint64_t data_cursor = 0;  ///< micro-batches read
  std::int64_t tokens = 0;        ///< read
  double running_loss = 0;        ///< see next_running_loss
};

/// One finished step.
struct StepRecord {
  std::int64_t step = 0;  ///< counted from 1, those that were left out too
  UpdateResult result;
  std::int64_t tokens = 0;  ///< seen so far
  double seconds = 0;       ///< since the start
};

/// One evaluation on held-out windows.
struct EvaluationRecord {
  std::int64_t step = 0;  ///< the last before it
  double loss = 0;        ///< nats a token
  std::int64_t tokens = 0;
};

struct TrainHooks {
  std::function<void(const StepRecord&)> step;
  std::function<void(const EvaluationRecord&)> evaluation;
  std::function<void(const TrainPosition&)> micro_batch;  ///< after each; the engine is then between two of them
};

struct TrainSummary {
  std::vector<double> losses;
  std::vector<double> gradient_norms;
  std::vector<double> learning_rates;
  std::optional<EvaluationRecord> held_out;
  std::int64_t steps = 0;
  std::int64_t tokens = 0;
  std::int64_t rejected = 0;  ///< steps whose loss or gradient was not finite
  double seconds = 0;
  Status last_status = Status::ok;  ///< of the last step
  bool interrupted = false;
};

/// Trains from `position` until the steps are done or `stop` becomes true (after the current micro-batch, whose
/// gradients then wait in the engine's window; the evaluation at the end is left out). A step whose loss or gradient is
/// not finite is left out; after several in a row an Error names the first tensor that is not finite. The weights are
/// then still those of the last good step.
template <class real>
TrainSummary train(Session<real>& session, DataSource& data, const TrainPlan& plan, TrainPosition& position,
                   const TrainHooks& hooks, const std::atomic<bool>& stop);

/// Mean loss over held-out batches, at most `most` of them, after step `step`.
template <class real>
EvaluationRecord evaluate_held_out(Session<real>& session, DataSource& data, std::size_t most, std::int64_t step);

/// The first value of a batch's pass that is not finite: "h.0.attn (attention)"; empty where all are finite.
template <class real>
std::string first_non_finite_value(Session<real>& session, const TokenBatch& batch);

}  // namespace thimble
