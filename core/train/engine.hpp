#pragma once
/// The engine trains, evaluates and generates with a model laid out in an arena. It is a template over the number
/// type alone: models and instruction sets reach it as tables.

#include <span>

#include "core/base/digest.hpp"
#include "core/base/status.hpp"
#include "core/train/initialise.hpp"
#include "core/train/options.hpp"
#include "core/train/program.hpp"

namespace thimble {

template <class real>
class Engine;
struct UpdateResult;

/// A model made ready for one arena: tables only, so a board keeps all of it in flash.
template <class real>
struct ModelLayout {
  TapeView tape;
  ProgramView<real> train;     ///< forward, backward
  ProgramView<real> evaluate;  ///< forward
  ProgramView<real> decode;    ///< forward of one token at a time
  std::span<const ParameterSlots> parameters;
  std::span<const InputSlot> inputs;  ///< real-valued inputs
  ArenaPlace tokens = kNoPlace;       ///< int32 ids [B, T]; kNoPlace where the model takes none
  ArenaPlace targets = kNoPlace;
  std::int32_t vocabulary = 0;
  Extent limit;                   ///< the largest batch and context that there is room for
  /// Of each region of RAM: from transient_begin to its end nothing outlives a pass.
  struct Region {
    std::int64_t transient_begin = 0;
    std::int64_t bytes = 0;
  } region[2];
  std::int64_t arena_bytes = 0;  ///< of both
  UpdateKernels<real> update;
  /// Engine::fused_step where the walk updates, else null: then nobody links it.
  UpdateResult (*fused_step)(Engine<real>&, const TrainOptions&, const Extent&, std::int64_t valid) = nullptr;
};

/// What one update did.
struct UpdateResult {
  Status status = Status::ok;
  double loss = 0;            ///< mean over the valid targets of the window
  std::int64_t valid = 0;     ///< targets that counted
  double gradient_norm = 0;   ///< of the mean loss, before clipping
  double learning_rate = 0;
  bool clipped = false;
};

/// What an engine knows beside its tensors: with them, all that it takes to go on.
struct EngineState {
  std::int64_t step = 0;  ///< optimizer steps taken
  BetaPowers powers;
  /// The window under way; its gradients stand in the arena where micro_batches > 0.
  struct Window {
    double loss_sum = 0;
    std::int64_t valid = 0;
    std::int32_t micro_batches = 0;
  } window;
};

template <class real>
class Engine {
 public:
  /// The arena's regions must hold the bytes of the layout's.
  Engine(const ModelLayout<real>& layout, const Arena& arena, Team team = {})
      : layout_(layout), arena_(arena), team_(team) {}

  /// Weights from `seed`, moments zero, step 0.
  void initialise(std::uint64_t seed) {
    team_.each([&](const Worker& w) {
      for (const ParameterSlots& p : layout_.parameters) {
        const Value& v = layout_.tape[p.value];
        fill_initial(at(p.weight), p.count, v.init, seed, v.name.hash, w);
      }
      for (const InputSlot& i : layout_.inputs) {
        const Value& v = layout_.tape[i.value];
        fill_initial(at(i.place), v.shape.count(layout_.limit), v.init, seed, v.name.hash, w);
      }
    });
    torn_ = false;
    reset_optimizer();
  }

  /// Moments zero, step 0; the weights stay.
  void reset_optimizer() {
    team_.each([&](const Worker& w) {
      for (const ParameterSlots& p : layout_.parameters) {
        fill_zero(p.first_moment, p.count, w);
        fill_zero(p.second_moment, p.count, w);
      }
    });
    state_ = {};
  }

  /// One optimizer step on one micro-batch. Where the layout updates within the backward pass, this is the only way
  /// to train. No window may be under way. `result` is what update() gives.
  Status train_step(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets, const Extent& extent,
                    const TrainOptions& options, UpdateResult& result) {
    if (!fuses_update()) {
      const Status s = accumulate(tokens, targets, extent);
      if (s == Status::ok) result = update(options);
      return s;
    }
    if (!allows_fused_update(options.optimizer)) return Status::needs_gradients;
    if (torn_) return Status::torn_update;
    const Status s = set_batch(tokens, targets, extent);
    if (s == Status::ok) result = layout_.fused_step(*this, options, extent, count_valid(targets));
    return s;
  }

  /// Forward and backward of one micro-batch; its gradient adds to the window's.
  /// tokens, targets: [batch, context] ids; a target of -1 does not count. Models without ids take empty spans.
  Status accumulate(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                    const Extent& extent) {
    if (fuses_update()) return Status::needs_gradients;
    const Status s = set_batch(tokens, targets, extent);
    if (s != Status::ok) return s;
    run_until_update(extent);
    state_.window.loss_sum += sum_result(layout_.train, extent);
    state_.window.valid += count_valid(targets);
    ++state_.window.micro_batches;
    return Status::ok;
  }

  /// Ends the window: one optimizer step with the gradient of the mean loss over all its valid targets.
  /// A loss or gradient that is not finite leaves weights, moments and step as they were.
  UpdateResult update(const TrainOptions& options) {
    UpdateResult r = first_result(options);
    if (r.status == Status::ok && state_.window.micro_batches > 0) apply_update(options, r);
    begin_window();
    return r;
  }

  /// Loss without gradient, of one batch. Adds to loss_sum and valid, so that batches of any size make one mean.
  Status evaluate(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                  const Extent& extent, double& loss_sum, std::int64_t& valid) {
    const Status s = set_batch(tokens, targets, extent);
    if (s != Status::ok) return s;
    forget_transient();
    const RunState<real> run = run_state(extent);
    const ProgramView<real>& p = layout_.evaluate;
    team_for(p.alone).each([&](const Worker& w) { run_steps(p, 0, p.count, run, w); });
    loss_sum += sum_result(layout_.evaluate, extent);
    valid += count_valid(targets);
    return Status::ok;
  }

  /// Logits [V] after `token` at `position`; the tokens before it were given by earlier calls. The transient part of
  /// the arena belongs to generation from position 0 until training or evaluation goes on.
  Status decode(std::int32_t token, std::int32_t position, const real*& logits) {
    if (position < 0 || position >= layout_.limit.context) return Status::context_full;
    if (token < 0 || token >= layout_.vocabulary) return Status::token_out_of_range;
    *ids(layout_.tokens) = token;
    RunState<real> run = run_state({1, 1});
    run.position = position;
    const ProgramView<real>& p = layout_.decode;
    team_for(p.alone).each([&](const Worker& w) { run_steps(p, 0, p.count, run, w); });
    logits = at(layout_.decode.result);
    return Status::ok;
  }

  /// The fingerprint of all weights, in tape order.
  std::uint64_t digest() const {
    Digest d;
    for (const ParameterSlots& p : layout_.parameters) d.add(at(p.weight), std::size_t(p.count));
    return d.value();
  }

  const ModelLayout<real>& layout() const { return layout_; }
  std::int64_t step() const { return state_.step; }
  /// For ModelLayout::fused_step: forward, backward and updates of one micro-batch, which stands in the arena.
  static UpdateResult fused_step(Engine& engine, const TrainOptions& options, const Extent& extent, std::int64_t valid) {
    return engine.run_fused_step(options, extent, valid);
  }
  /// Is each weight updated within the backward pass?
  bool fuses_update() const { return layout_.fused_step != nullptr; }
  /// Are the weights of no whole step (Status::torn_update)? Until they are initialised or loaded anew.
  bool torn() const { return torn_; }
  std::int64_t valid_in_window() const { return state_.window.valid; }
  double mean_loss() const { return state_.window.valid > 0 ? state_.window.loss_sum / double(state_.window.valid) : 0; }
  void set_observer(const StepObserver<real>* o) { observer_ = o; }

  /// A parameter's weight, gradient (of the window's summed loss), and moments.
  std::span<real> weight(const ParameterSlots& p) const { return {at(p.weight), std::size_t(p.count)}; }
  std::span<real> gradient(const ParameterSlots& p) const { return {at(p.gradient), std::size_t(p.count)}; }
  /// A real-valued input's numbers.
  std::span<real> input(const InputSlot& i) const {
    return {at(i.place), std::size_t(layout_.tape[i.value].shape.count(layout_.limit))};
  }
  /// What the last training or evaluation pass computed: a loss per token, or the result.
  const real* result() const { return at(layout_.train.result); }
  const real* evaluated_result() const { return at(layout_.evaluate.result); }

  /// What it takes to go on, beside weights, moments and the window's gradients.
  const EngineState& state() const { return state_; }
  void restore(const EngineState& state) {
    state_ = state;
    torn_ = false;
  }

  /// The numbers at a place of the arena.
  real* at(ArenaPlace p) const { return run_state({}).at(p); }

  /// Forgets the gradient that has been gathered since the last update.
  void begin_window() { state_.window = {}; }

 private:
  std::int32_t* ids(ArenaPlace p) const { return run_state({}).template at<std::int32_t>(p); }

  static constexpr Team kOneWorker{};

  const Team& team_for(bool alone) const { return alone ? kOneWorker : team_; }

  /// An update reads and writes all but the ids of what persists.
  const Team& update_team() const { return team_for(layout_.region[0].transient_begin < kSharedWork); }

  RunState<real> run_state(const Extent& extent) const {
    return {arena_, extent, 0, state_.window.micro_batches > 0, observer_, {}};
  }

  /// In debug builds nothing that an earlier pass left behind can be read unnoticed: all bits set make a NaN.
  void forget_transient() {
#ifndef NDEBUG
    std::byte* const begin[] = {arena_.first, arena_.second};
    for (int r = 0; r < 2; ++r) {
      const auto& region = layout_.region[r];
      for (std::int64_t i = region.transient_begin; i < region.bytes; ++i) begin[r][i] = std::byte{0xFF};
    }
#endif
  }

  void fill_zero(ArenaPlace place, std::int64_t count, const Worker& w) {
    if (place == kNoPlace) return;
    const Range r = w.share(count, 16);
    for (std::int64_t i = r.begin; i < r.end; ++i) at(place)[i] = real(0);
  }

  Status set_batch(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                   const Extent& extent) {
    const bool fits = extent.batch >= 1 && extent.context >= 1 && extent.batch <= layout_.limit.batch &&
                      extent.context <= layout_.limit.context;
    const std::size_t count = layout_.tokens == kNoPlace ? 0 : std::size_t(extent.tokens());
    if (!fits || tokens.size() != count || targets.size() != count) return Status::extent_out_of_range;
    for (std::size_t i = 0; i < count; ++i) {
      const bool token_fits = tokens[i] >= 0 && tokens[i] < layout_.vocabulary;
      const bool target_fits = targets[i] >= kIgnoredTarget && targets[i] < layout_.vocabulary;
      if (!token_fits || !target_fits) return Status::token_out_of_range;
    }
    for (std::size_t i = 0; i < count; ++i) {
      ids(layout_.tokens)[i] = tokens[i];
      ids(layout_.targets)[i] = targets[i];
    }
    return Status::ok;
  }

  static std::int64_t count_valid(std::span<const std::int32_t> targets) {
    std::int64_t n = 0;
    for (std::int32_t t : targets) n += t != kIgnoredTarget;
    return targets.empty() ? 1 : n;
  }

  /// The sum of the last value, in ascending order.
  double sum_result(const ProgramView<real>& program, const Extent& extent) const {
    const std::int64_t n = layout_.tape[layout_.tape.size - 1].shape.count(extent);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += double(at(program.result)[i]);
    return sum;
  }

  /// A training pass up to its first update, or its end.
  void run_until_update(const Extent& extent) {
    forget_transient();
    const RunState<real> run = run_state(extent);
    const ProgramView<real>& p = layout_.train;
    team_for(p.alone).each([&](const Worker& w) {
      run_steps(p, 0, p.backward_begin, run, w);
      if (p.seed != kNoPlace) {
        if (w.index == 0) *at(p.seed) = real(1);
        w.barrier();
      }
      run_steps(p, p.backward_begin, p.update_begin, run, w);
    });
  }

  /// Loss and learning rate of the window. Not inlined: the schedule is a thousand bytes of code.
  [[gnu::noinline]] UpdateResult first_result(const TrainOptions& options) const {
    UpdateResult r;
    r.valid = state_.window.valid;
    r.loss = mean_loss();
    r.learning_rate = learning_rate(options.schedule, state_.step);
    if (!(r.loss - r.loss == 0)) r.status = Status::non_finite_loss;
    return r;
  }

  double* norm_sums() { return run_state({}).template at<double>(layout_.train.update_scratch); }
  std::int64_t norm_block_count() const {
    std::int64_t blocks = 0;
    for (const ParameterSlots& p : layout_.parameters) blocks += norm_blocks(p.count);
    return blocks;
  }

  /// The norm of the window's summed gradient.
  double summed_gradient_norm() {
    double* const sums = norm_sums();
    update_team().each([&](const Worker& w) {
      std::int64_t first = 0;
      for (const ParameterSlots& p : layout_.parameters) {
        layout_.update.sum_squares(at(p.gradient), p.count, sums + first, w);
        first += norm_blocks(p.count);
      }
    });
    return gradient_norm(sums, norm_block_count());
  }

  /// An update within the backward pass. The loss stands before the first tensor is updated, and nothing is if it is
  /// not finite; a gradient is seen only when its turn comes.
  struct FusedUpdate {
    Engine& engine;
    BetaPowers powers;  ///< this step included
    OptimizerStep<real> step;
    bool stopped = false;  ///< by a gradient that is not finite
    int done = 0;          ///< tensors
  };

  UpdateResult run_fused_step(const TrainOptions& options, const Extent& extent, std::int64_t valid) {
    const ProgramView<real>& p = layout_.train;
    run_until_update(extent);
    state_.window = {sum_result(p, extent), valid, 1};
    UpdateResult r = first_result(options);
    begin_window();
    if (r.status != Status::ok) return r;
    const double mean = valid > 0 ? 1 / double(valid) : 0;
    const BetaPowers powers = state_.powers.next(options.optimizer);
    FusedUpdate fused{*this, powers, {options.optimizer, r.learning_rate, powers, mean}};
    const std::int64_t blocks = norm_block_count();
    for (std::int64_t b = 0; b < blocks; ++b) norm_sums()[b] = 0;
    RunState<real> run = run_state(extent);
    run.update = {&fused, update_one};
    team_for(p.alone).each([&](const Worker& w) { run_steps(p, p.update_begin, p.count, run, w); });
    r.gradient_norm = gradient_norm(norm_sums(), blocks) * mean;
    if (!(r.gradient_norm - r.gradient_norm == 0)) {
      torn_ = fused.done > 0;
      r.status = torn_ ? Status::torn_update : Status::non_finite_gradient;
      return r;
    }
    state_.powers = fused.powers;
    ++state_.step;
    return r;
  }

  /// The update of one tensor, by all workers.
  static void update_one(void* state, const ProgramStep<real>& step, const Call<real>& call, const Worker& w) {
    FusedUpdate& fused = *static_cast<FusedUpdate*>(state);
    if (fused.stopped) return;
    const ModelLayout<real>& layout = fused.engine.layout_;
    double* sums = fused.engine.norm_sums();
    const ParameterSlots* p = layout.parameters.data();
    for (; p->value != step.value; ++p) sums += norm_blocks(p->count);
    layout.update.sum_squares(call.d_out, p->count, sums, w);
    w.barrier();
    const double norm = gradient_norm(sums, norm_blocks(p->count));
    const bool finite = norm - norm == 0;
    if (w.index == 0) {
      fused.stopped = !finite;
      fused.done += finite;
    }
    if (finite) fused.engine.update_tensor(*p, call.d_out, fused.step, w);
  }

  void apply_update(const TrainOptions& options, UpdateResult& r) {
    const OptimizerOptions& o = options.optimizer;
    const double mean = r.valid > 0 ? 1 / double(r.valid) : 0;
    r.gradient_norm = summed_gradient_norm() * mean;
    if (!(r.gradient_norm - r.gradient_norm == 0)) {
      r.status = Status::non_finite_gradient;
      return;
    }
    const double clip = clip_scale(r.gradient_norm, o.clip);
    r.clipped = clip < 1;
    state_.powers = state_.powers.next(o);
    const OptimizerStep<real> step(o, r.learning_rate, state_.powers, clip * mean);
    update_team().each([&](const Worker& w) {
      for (const ParameterSlots& p : layout_.parameters) update_tensor(p, at(p.gradient), step, w);
    });
    ++state_.step;
  }

  void update_tensor(const ParameterSlots& p, const real* gradient, const OptimizerStep<real>& step, const Worker& w) {
    if (step.kind == OptimizerKind::adamw) {
      layout_.update.adamw(at(p.weight), gradient, at(p.first_moment), at(p.second_moment), p.count,
                           step.adamw[p.decays], w);
    } else {
      layout_.update.sgd(at(p.weight), gradient, at(p.first_moment), p.count, step.sgd[p.decays], w);
    }
  }

  const ModelLayout<real>& layout_;
  Arena arena_;
  Team team_;
  const StepObserver<real>* observer_ = nullptr;
  EngineState state_;
  bool torn_ = false;
};

}  // namespace thimble
