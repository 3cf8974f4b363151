#include "ports/program/board_program.hpp"

#include "core/train/non_finite.hpp"
#include "ports/program/put_text.hpp"

namespace thimble {

namespace {

constexpr std::uint64_t kSeed = 1;

bool is_active(thimble_board_Activity a) {
  return a == thimble_board_Activity_ACTIVITY_TRAINING || a == thimble_board_Activity_ACTIVITY_WAITING;
}

}  // namespace

BoardProgram::BoardProgram(Engine<float>& engine, const BoardModel& model, TextData& text,
                           std::span<std::int32_t> ids, const Port& port, const StepObserver<float>* observer)
    : engine_(engine),
      model_(model),
      text_(text),
      ids_(ids),
      port_(port),
      also_(observer),
      observer_{this, before_kernel, after_kernel},
      line_(port),
      store_(port.flash, slots(engine.layout(), port.flash.geometry)) {
  engine_.set_observer(&observer_);
}

void BoardProgram::start() {
  fault_ = {};
  begin_run(kSeed, model_.training, model_.run, 1);
  store_.recover();
  if (store_.holds()) fault_ = load(store_.source(), AfterCommit::anything);
  const std::uint64_t trained_on = state_.data_hash;
  set_activity(fault_ ? thimble_board_Activity_ACTIVITY_FAILED : thimble_board_Activity_ACTIVITY_STOPPED);
  if (!fault_) go_on();
  if (!fault_ && trained_on != 0 && state_.data_hash != trained_on) {
    fault_ = {FaultKind::bad_value, kAnotherText, 0, 0, trained_on, state_.data_hash};
    set_activity(thimble_board_Activity_ACTIVITY_FAILED);
  }
  report_state();
}

bool BoardProgram::poll() {
  line_.listen();
  if (line_.has_command()) {
    do_command();
    return true;
  }
  if (activity_ != thimble_board_Activity_ACTIVITY_TRAINING) return false;
  std::int32_t* const targets = ids_.data() + ids_.size() / 2;
  const Extent extent = text_.batch(state_.data_cursor, state_.seed, ids_.data(), targets);
  // The text was checked, so its ids are in range.
  if (train_on(extent) != Status::ok) set_activity(thimble_board_Activity_ACTIVITY_FAILED);
  return true;
}

int BoardProgram::run() {
  start();
  while (!exited_) poll();
  return 0;
}

std::uint64_t BoardProgram::steps_done() const { return state_.data_cursor / std::uint64_t(state_.accumulate); }

void BoardProgram::begin_run(std::uint64_t seed, const TrainOptions& options, const RunPlan& run,
                             std::int32_t accumulate) {
  state_ = {};
  state_.model = model_.name;
  state_.profile = model_.profile;
  state_.has_gpt = model_.has_gpt;
  state_.gpt = model_.gpt;
  state_.options = options;
  state_.seed = seed;
  state_.run = run;
  state_.accumulate = accumulate;
  rejected_in_a_row_ = 0;
  step_ticks_ = 0;
  profile_.reset();
  engine_.initialise(seed);
  engine_.begin_window();
}

bool BoardProgram::at_end() const { return steps_done() >= state_.run.steps; }

/// Makes the text ready where the run trains on it; what is wrong with it, or null.
const char* BoardProgram::prepare_text() {
  if (state_.run.data_from_host) return nullptr;
  const char* const wrong = text_.prepare(engine_.layout().vocabulary, engine_.layout().limit);
  state_.data_hash = wrong ? 0 : text_.fingerprint(state_.seed);
  return wrong;
}

/// Trains from where the run stands.
void BoardProgram::go_on() {
  if (const char* const wrong = prepare_text()) {
    fault_ = {FaultKind::bad_value, wrong};
    return set_activity(thimble_board_Activity_ACTIVITY_FAILED);
  }
  set_activity(at_end()                     ? thimble_board_Activity_ACTIVITY_FINISHED
               : state_.run.data_from_host ? thimble_board_Activity_ACTIVITY_WAITING
                                           : thimble_board_Activity_ACTIVITY_TRAINING);
}

void BoardProgram::set_activity(Activity activity) { activity_ = activity; }

/// One micro-batch of ids_: tokens in its first half, targets in its second.
Status BoardProgram::train_on(const Extent& extent) {
  const std::size_t count = std::size_t(extent.tokens());
  const std::span<const std::int32_t> tokens = ids_.first(count);
  const std::span<const std::int32_t> targets = ids_.subspan(ids_.size() / 2, count);
  const std::uint64_t began = port_.ticks(port_.state);
  const bool one_pass = state_.accumulate == 1;
  UpdateResult result;
  const Status s = one_pass ? engine_.train_step(tokens, targets, extent, state_.options, result)
                            : engine_.accumulate(tokens, targets, extent);
  if (s != Status::ok) return s;
  ++state_.data_cursor;
  state_.tokens += std::uint64_t(extent.tokens());
  const bool window_ends = state_.data_cursor % std::uint64_t(state_.accumulate) == 0;
  if (window_ends && !one_pass) result = engine_.update(state_.options);
  step_ticks_ += port_.ticks(port_.state) - began;
  if (window_ends) end_step(result, extent);
  return Status::ok;
}

void BoardProgram::end_step(const UpdateResult& r, const Extent& extent) {
  const std::uint64_t step = steps_done();
  profile_.add_step();
  thimble_board_Report report = thimble_board_Report_init_zero;
  report.which_what = thimble_board_Report_step_tag;
  thimble_board_Step& s = report.what.step;
  if (r.status == Status::ok) {
    state_.running_loss = next_running_loss(state_.running_loss, std::int64_t(step) - 1, r.loss);
    rejected_in_a_row_ = 0;
  } else {
    ValueId value = kNoValue;
    const std::size_t count = std::size_t(extent.tokens());
    const Status again = first_non_finite_value<float>(engine_, ids_.first(count),
                                                       ids_.subspan(ids_.size() / 2, count), extent, value, &observer_);
    if (again == Status::ok && value != kNoValue) put_text(s.non_finite, engine_.layout().tape[value].name.view());
    ++rejected_in_a_row_;
  }
  if (at_end()) set_activity(thimble_board_Activity_ACTIVITY_FINISHED);
  if (rejected_in_a_row_ >= kMostRejectedInARow || engine_.torn()) {
    set_activity(thimble_board_Activity_ACTIVITY_DIVERGED);
  }

  const std::uint32_t every = state_.run.save_every;
  if (store_.usable() && every > 0 && (step % every == 0 || !is_active(activity_))) {
    const Fault f = save();
    s.has_save_fault = bool(f);
    s.save_fault.kind = std::uint32_t(f.kind);
    put_text(s.save_fault.field, f.field);
  }
  s.step = step;
  s.loss = r.loss;
  s.learning_rate = r.learning_rate;
  s.gradient_norm = r.gradient_norm;
  s.clipped = r.clipped;
  s.tokens = state_.tokens;
  s.ticks = step_ticks_;
  s.arena_high_water = std::uint32_t(engine_.layout().arena_bytes);
  s.stack_high_water = stack_high_water();
  s.status = std::uint32_t(r.status);
  s.saves = store_.sequence();
  step_ticks_ = 0;
  const std::uint32_t report_every = state_.run.report_every;
  const bool wanted = report_every <= 1 || step % report_every == 0 || r.status != Status::ok || s.has_save_fault;
  if (wanted || !is_active(activity_)) {
    s.digest = engine_.digest();
    line_.report(report);
  }
  if (!is_active(activity_)) report_state();
}

bool BoardProgram::finite_weights() const {
  for (const ParameterSlots& p : engine_.layout().parameters) {
    for (const float w : engine_.weight(p)) {
      if (!(w - w == 0)) return false;
    }
  }
  return true;
}

Fault BoardProgram::save() {
  if (engine_.torn() || !finite_weights()) return {FaultKind::bad_value, "weights"};
  return store_.save([&](CheckpointWriter& writer) { return write_training(writer, engine_, state_); });
}

/// Takes a checkpoint of this model, and its run, all or nothing.
Fault BoardProgram::load(const ByteSource& source, AfterCommit after) {
  TrainingState loaded = state_;
  const Fault f = load_training(engine_, source, loaded, LoadWhat::everything, after);
  if (f) return f;
  if (loaded.run.steps == 0) loaded.run = state_.run;
  state_ = loaded;
  return {};
}

std::uint32_t BoardProgram::stack_high_water() const {
  return port_.stack_high_water == nullptr ? 0 : port_.stack_high_water(port_.state);
}

void BoardProgram::before_kernel(void* self, const ProgramStep<float>& step, const Call<float>& call) {
  BoardProgram& p = *static_cast<BoardProgram*>(self);
  if (p.also_ && p.also_->before) p.also_->before(p.also_->state, step, call);
  p.kernel_began_ = p.port_.ticks(p.port_.state);
}

/// Commands may come at any time; the console's buffer is small.
void BoardProgram::after_kernel(void* self, const ProgramStep<float>& step, const Call<float>& call) {
  BoardProgram& p = *static_cast<BoardProgram*>(self);
  if (p.also_ && p.also_->after) p.also_->after(p.also_->state, step, call);
  p.profile_.add(p.engine_.layout().tape[step.value], step.kind, p.port_.ticks(p.port_.state) - p.kernel_began_);
  p.line_.listen();
}

}  // namespace thimble
