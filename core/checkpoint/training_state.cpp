#include "core/checkpoint/training_state.hpp"

#include "core/base/arithmetic.hpp"

namespace thimble {

namespace {

// The schema's enumerations are the core's, counted from 1.
template <class Schema, class Core>
Schema to_schema(Core value) {
  return Schema(int(value) + 1);
}

/// The core's value; false where the schema's is none of 1..count.
template <class Core, class Schema>
bool from_schema(Schema value, int count, Core& to) {
  if (int(value) < 1 || int(value) > count) return false;
  to = Core(int(value) - 1);
  return true;
}

constexpr std::uint64_t kMostSteps = std::uint64_t(1) << 53;

Fault bad(const char* field, std::uint64_t expected, std::uint64_t found) {
  return {FaultKind::bad_value, field, 0, 0, expected, found};
}

bool is_finite(double x) { return x - x == 0; }

Fault read_powers(const thimble_checkpoint_Optimizer& o, BetaPowers& to) {
  const auto is_power = [](double x) { return x >= 0 && x <= 1; };
  if (!is_power(o.beta1_power)) return bad("header.optimizer.beta1_power", 0, 0);
  if (!is_power(o.beta2_power)) return bad("header.optimizer.beta2_power", 0, 0);
  to = {o.beta1_power, o.beta2_power};
  return {};
}

Fault read_progress(const thimble_checkpoint_Progress& p, TrainingState& s) {
  if (p.step > kMostSteps) return bad("header.progress.step", kMostSteps, p.step);
  if (p.accumulate < 1 || p.accumulate > 0x7FFFFFFF) return bad("header.progress.accumulate", 1, p.accumulate);
  if (p.window_micro_batches > p.accumulate) {
    return bad("header.progress.window_micro_batches", p.accumulate, p.window_micro_batches);
  }
  if (p.window_valid > kMostSteps) return bad("header.progress.window_valid", kMostSteps, p.window_valid);
  if (!is_finite(p.running_loss)) return bad("header.progress.running_loss", 0, 0);
  s.engine.step = std::int64_t(p.step);
  s.engine.window = {p.window_loss_sum, std::int64_t(p.window_valid), std::int32_t(p.window_micro_batches)};
  s.seed = p.seed;
  s.data_cursor = p.data_cursor;
  s.data_hash = p.data_hash;
  s.tokens = p.tokens;
  s.running_loss = p.running_loss;
  s.accumulate = std::int32_t(p.accumulate);
  return {};
}

}  // namespace

Fault read_message(const thimble_checkpoint_Optimizer& o, OptimizerOptions& to) {
  if (!from_schema(o.kind, 2, to.kind)) return bad("header.optimizer.kind", 2, std::uint64_t(o.kind));
  to.beta1 = o.beta1;
  to.beta2 = o.beta2;
  to.epsilon = o.epsilon;
  to.weight_decay = o.weight_decay;
  to.momentum = o.momentum;
  to.clip = o.clip;
  return fault_of(to) == nullptr ? Fault{} : bad("header.optimizer", 0, 0);
}

Fault read_message(const thimble_checkpoint_Schedule& schedule, Schedule& to) {
  if (!from_schema(schedule.kind, 4, to.kind)) return bad("header.schedule.kind", 4, std::uint64_t(schedule.kind));
  const bool fits = schedule.warmup_steps <= kMostSteps && schedule.total_steps <= kMostSteps &&
                    schedule.decay_steps <= kMostSteps;
  if (!fits) return bad("header.schedule", kMostSteps, schedule.total_steps);
  to.peak = schedule.peak;
  to.floor = schedule.floor;
  to.warmup_steps = std::int64_t(schedule.warmup_steps);
  to.total_steps = std::int64_t(schedule.total_steps);
  to.decay_steps = std::int64_t(schedule.decay_steps);
  return fault_of(to) == nullptr ? Fault{} : bad("header.schedule", 0, 0);
}

thimble_checkpoint_Profile message_of(Profile profile) { return to_schema<thimble_checkpoint_Profile>(profile); }

thimble_checkpoint_Optimizer message_of(const OptimizerOptions& o, const BetaPowers& powers) {
  return {to_schema<thimble_checkpoint_OptimizerKind>(o.kind),
          o.beta1,
          o.beta2,
          o.epsilon,
          o.weight_decay,
          o.momentum,
          o.clip,
          powers.beta1,
          powers.beta2};
}

thimble_checkpoint_Schedule message_of(const Schedule& s) {
  return {to_schema<thimble_checkpoint_ScheduleKind>(s.kind),
          s.peak,
          s.floor,
          std::uint64_t(s.warmup_steps),
          std::uint64_t(s.total_steps),
          std::uint64_t(s.decay_steps)};
}

CheckpointHeader header_of(const TrainingState& s) {
  CheckpointHeader h = thimble_checkpoint_Header_init_zero;
  h.format_version = kFormatVersion;
  h.arithmetic_version = kArithmeticVersion;
  h.profile = message_of(s.profile);
  for (int i = 0; i < s.model.size(); ++i) h.model[i] = s.model.text[i];
  h.has_gpt = s.has_gpt;
  h.gpt = s.gpt;

  h.has_optimizer = true;
  h.optimizer = message_of(s.options.optimizer, s.engine.powers);
  h.has_schedule = true;
  h.schedule = message_of(s.options.schedule);
  h.has_progress = true;
  h.progress = {std::uint64_t(s.engine.step),
                learning_rate(s.options.schedule, s.engine.step),
                s.seed,
                s.data_cursor,
                s.data_hash,
                s.tokens,
                s.running_loss,
                std::uint32_t(s.accumulate),
                std::uint32_t(s.engine.window.micro_batches),
                std::uint64_t(s.engine.window.valid),
                s.engine.window.loss_sum};
  h.has_run = s.run.steps != 0;
  h.run = {s.run.steps, s.run.save_every, s.run.report_every, s.run.data_from_host};
  return h;
}

Fault read_header(const CheckpointHeader& h, TrainingState& s) {
  s.model = Name(h.model);
  if (h.run.steps > kMostSteps) return bad("header.run.steps", kMostSteps, h.run.steps);
  s.run = {h.run.steps, h.run.save_every, h.run.report_every, h.run.data_from_host};
  if (s.model.size() == 0) return bad("header.model", 1, 0);
  if (!from_schema(h.profile, 2, s.profile)) return bad("header.profile", 2, std::uint64_t(h.profile));
  s.gpt = h.gpt;
  s.has_gpt = h.has_gpt;
  Fault fault = read_message(h.optimizer, s.options.optimizer);
  if (!fault) fault = read_powers(h.optimizer, s.engine.powers);
  if (!fault) fault = read_message(h.schedule, s.options.schedule);
  if (!fault) fault = read_progress(h.progress, s);
  return fault;
}

}  // namespace thimble
