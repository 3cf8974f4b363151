#include "tools/train/train_run.hpp"

#include <chrono>

#include "core/checkpoint/training_state.hpp"
#include "core/train/non_finite.hpp"
#include "tools/files/error.hpp"

namespace thimble {

namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void require_ok(Status s, const char* where) {
  if (s != Status::ok) throw Error(where, text_of(s), "");
}

}  // namespace

template <class real>
EvaluationRecord evaluate_held_out(Session<real>& session, DataSource& data, std::size_t most, std::int64_t step) {
  double sum = 0;
  std::int64_t valid = 0;
  const std::size_t count = std::min(most, data.held_out_count());
  for (std::size_t i = 0; i < count; ++i) {
    // Spread over the whole held-out part.
    const TokenBatch b = data.held_out(i * data.held_out_count() / count);
    require_ok(session.engine().evaluate(b.tokens, b.targets, b.extent, sum, valid), "held-out data");
  }
  return {step, valid > 0 ? sum / double(valid) : 0, valid};
}

template <class real>
std::string first_non_finite_value(Session<real>& session, const TokenBatch& batch) {
  ValueId value = kNoValue;
  require_ok(first_non_finite_value(session.engine(), batch.tokens, batch.targets, batch.extent, value), "training data");
  if (value == kNoValue) return {};
  const Value& v = session.model().tape[value];
  return std::string(v.name.view()) + " (" + std::string(op_name(v).view()) + ")";
}

template <class real>
TrainSummary train(Session<real>& session, DataSource& data, const TrainPlan& plan, TrainPosition& position,
                   const TrainHooks& hooks, const std::atomic<bool>& stop) {
  Engine<real>& engine = session.engine();
  TrainSummary summary;
  const Stopwatch watch;
  int rejected_in_a_row = 0;
  const std::uint64_t a_step = std::uint64_t(plan.accumulate);
  const std::uint64_t end = std::uint64_t(plan.steps) * a_step;
  while (position.data_cursor < end && !stop) {
    const TokenBatch batch = data.batch(position.data_cursor);
    UpdateResult r;
    require_ok(a_step == 1 ? engine.train_step(batch.tokens, batch.targets, batch.extent, plan.options, r)
                           : engine.accumulate(batch.tokens, batch.targets, batch.extent),
               "training data");
    ++position.data_cursor;
    position.tokens += batch.extent.tokens();
    summary.tokens += batch.extent.tokens();
    if (position.data_cursor % a_step != 0) {
      if (hooks.micro_batch) hooks.micro_batch(position);
      continue;
    }
    const std::int64_t step = std::int64_t(position.data_cursor / a_step);
    if (a_step > 1) r = engine.update(plan.options);
    if (r.status == Status::ok) position.running_loss = next_running_loss(position.running_loss, step - 1, r.loss);
    summary.losses.push_back(r.loss);
    summary.gradient_norms.push_back(r.gradient_norm);
    summary.learning_rates.push_back(r.learning_rate);
    summary.seconds = watch.seconds();
    summary.last_status = r.status;
    ++summary.steps;
    if (hooks.step) hooks.step({step, r, summary.tokens, summary.seconds});
    if (hooks.micro_batch) hooks.micro_batch(position);

    if (r.status == Status::torn_update) {
      throw Error("training, step " + std::to_string(step), text_of(r.status),
                  "go on from the last checkpoint, without --fuse-update or with a lower --lr");
    }
    rejected_in_a_row = r.status == Status::ok ? 0 : rejected_in_a_row + 1;
    summary.rejected += r.status != Status::ok;
    if (rejected_in_a_row == kMostRejectedInARow) {
      const std::string at = first_non_finite_value(session, batch);
      throw Error("training, step " + std::to_string(step),
                  std::string(text_of(r.status)) + (at.empty() ? "" : "; the first value that is not is " + at),
                  "the weights are those of the last good step; try a lower --lr, or --clip 1");
    }
    const bool evaluate = plan.evaluate_every > 0 && step % plan.evaluate_every == 0 && step < plan.steps;
    if (evaluate && data.held_out_count() > 0) {
      EvaluationRecord e = evaluate_held_out(session, data, plan.evaluation_batches, step);
      if (hooks.evaluation) hooks.evaluation(e);
    }
  }
  summary.interrupted = stop && position.data_cursor < end;
  if (!summary.interrupted && data.held_out_count() > 0) {
    summary.held_out = evaluate_held_out(session, data, data.held_out_count(), plan.steps);
    if (hooks.evaluation) hooks.evaluation(*summary.held_out);
  }
  return summary;
}

template TrainSummary train(Session<float>&, DataSource&, const TrainPlan&, TrainPosition&, const TrainHooks&,
                            const std::atomic<bool>&);
template TrainSummary train(Session<double>&, DataSource&, const TrainPlan&, TrainPosition&, const TrainHooks&,
                            const std::atomic<bool>&);
template EvaluationRecord evaluate_held_out(Session<float>&, DataSource&, std::size_t, std::int64_t);
template EvaluationRecord evaluate_held_out(Session<double>&, DataSource&, std::size_t, std::int64_t);
template std::string first_non_finite_value(Session<float>&, const TokenBatch&);
template std::string first_non_finite_value(Session<double>&, const TokenBatch&);

}  // namespace thimble
