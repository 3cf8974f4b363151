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
  std::int64_t transient_begin = 0;   ///< bytes; from here to arena_bytes nothing outlives a pass
  std::int64_t arena_bytes = 0;
  UpdateKernels<real> update;
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
  /// The arena must be aligned to kArenaAlignment and hold layout.arena_bytes.
  Engine(const ModelLayout<real>& layout, std::byte* arena, Team team = {})
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

  /// Forward and backward of one micro-batch; its gradient adds to the window's.
  /// tokens, targets: [batch, context] ids; a target of -1 does not count. Models without ids take empty spans.
  Status accumulate(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                    const Extent& extent) {
    const Status s = set_batch(tokens, targets, extent);
    if (s != Status::ok) return s;
    forget_transient();
    const RunState<real> run = run_state(extent);
    const ProgramView<real>& p = layout_.train;
    team_for(p.alone).each([&](const Worker& w) {
      run_steps(p, 0, p.backward_begin, run, w);
      if (p.seed != kNoPlace) {
        if (w.index == 0) *at(p.seed) = real(1);
        w.barrier();
      }
      run_steps(p, p.backward_begin, p.count, run, w);
    });
    state_.window.loss_sum += sum_result(p, extent);
    state_.window.valid += count_valid(targets);
    ++state_.window.micro_batches;
    return Status::ok;
  }

  /// Ends the window: one optimizer step with the gradient of the mean loss over all its valid targets.
  /// A loss or gradient that is not finite leaves weights, moments and step as they were.
  UpdateResult update(const TrainOptions& options) {
    UpdateResult r;
    r.valid = state_.window.valid;
    r.loss = mean_loss();
    r.learning_rate = learning_rate(options.schedule, state_.step);
    const bool finite_loss = r.loss - r.loss == 0;
    if (!finite_loss) r.status = Status::non_finite_loss;
    if (finite_loss && state_.window.micro_batches > 0) apply_update(options, r);
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
  void restore(const EngineState& state) { state_ = state; }

  /// The numbers at a place of the arena.
  real* at(ArenaPlace p) const { return run_state({}).at(p); }

  /// Forgets the gradient that has been gathered since the last update.
  void begin_window() { state_.window = {}; }

 private:
  std::int32_t* ids(ArenaPlace p) const { return run_state({}).template at<std::int32_t>(p); }

  Team team_for(bool alone) const { return alone ? Team{} : team_; }

  /// An update reads and writes all but the ids of what persists.
  Team update_team() const { return team_for(layout_.transient_begin < kSharedWork); }

  RunState<real> run_state(const Extent& extent) const {
    return {arena_, extent, 0, state_.window.micro_batches > 0, observer_};
  }

  /// In debug builds nothing that an earlier pass left behind can be read unnoticed: all bits set make a NaN.
  void forget_transient() {
#ifndef NDEBUG
    for (std::int64_t i = layout_.transient_begin; i < layout_.arena_bytes; ++i) arena_[i] = std::byte{0xFF};
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

  /// The norm of the window's summed gradient.
  double summed_gradient_norm() {
    double* const sums = run_state({}).template at<double>(layout_.train.update_scratch);
    std::int64_t blocks = 0;
    for (const ParameterSlots& p : layout_.parameters) blocks += norm_blocks(p.count);
    update_team().each([&](const Worker& w) {
      std::int64_t first = 0;
      for (const ParameterSlots& p : layout_.parameters) {
        layout_.update.sum_squares(at(p.gradient), p.count, sums + first, w);
        first += norm_blocks(p.count);
      }
    });
    return gradient_norm(sums, blocks);
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
    update_team().each([&](const Worker& w) {
      for (const ParameterSlots& p : layout_.parameters) update_tensor(p, o, r.learning_rate, clip * mean, w);
    });
    ++state_.step;
  }

  void update_tensor(const ParameterSlots& p, const OptimizerOptions& o, double rate, double scale,
                     const Worker& w) {
    if (o.kind == OptimizerKind::adamw) {
      const AdamWStep<real> step(o, rate, state_.powers, scale, p.decays);
      layout_.update.adamw(at(p.weight), at(p.gradient), at(p.first_moment), at(p.second_moment), p.count, step,
                           w);
    } else {
      layout_.update.sgd(at(p.weight), at(p.gradient), at(p.first_moment), p.count,
                         SgdStep<real>(o, rate, scale, p.decays), w);
    }
  }

  const ModelLayout<real>& layout_;
  std::byte* arena_;
  Team team_;
  const StepObserver<real>* observer_ = nullptr;
  EngineState state_;
};

}  // namespace thimble
