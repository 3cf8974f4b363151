#pragma once
/// A model with its arena in one object: `sizeof(Trainer<...>)` is the whole RAM of a run, stack aside.

#include "core/train/layout.hpp"

namespace thimble {

/// What a trainer is built for, all known at compile time.
struct TrainerOptions {
  Extent extent;                                       ///< the largest batch and context
  RecomputeText recompute = "none";                    ///< what is computed again for backward
  bool fuse_update = false;                            ///< update within the backward pass: see Engine::train_step
  OptimizerKind optimizer = OptimizerKind::adamw;
  std::int64_t budget_bytes = 0;                       ///< 0: no limit
};

namespace detail {

template <std::int64_t needed_bytes, std::int64_t given_bytes, std::int64_t missing_bytes>
struct ArenaFitsBudget {
  static_assert(missing_bytes <= 0,
                "thimble: the model does not fit its budget (template arguments: needed, given, missing bytes). "
                "Recompute blocks, fuse the update, take a smaller batch or context, or an optimizer with fewer moments");
  static constexpr bool value = true;
};

template <class Model, class S, TrainerOptions options>
struct StaticModel {
  using real = typename S::real;
  static constexpr const auto& tape = tape_of<Model>;
  static constexpr int n = tape.size;
  static constexpr PlanOptions plan_options{
      options.extent, 1, int(sizeof(real)), options.optimizer == OptimizerKind::adamw ? 2 : 1, true,
      options.fuse_update};
};

template <class Model, class S, TrainerOptions options>
inline constexpr auto static_plans = make_plan_set(
    tape_of<Model>,
    schedule_of(tape_of<Model>, options.recompute),
    StaticModel<Model, S, options>::plan_options);

/// The tables of a model, constant data.
template <class Model, class S, TrainerOptions options>
struct StaticTables {
  using real = typename S::real;
  static constexpr int n = tape_of<Model>.size;
  static constexpr const auto& plans = static_plans<Model, S, options>;

  std::array<ProgramStep<real>, std::size_t(plans.train.walk.count)> train = {};
  std::array<ProgramStep<real>, std::size_t(plans.evaluate.walk.count)> evaluate = {};
  std::array<ProgramStep<real>, std::size_t(plans.decode.walk.count)> decode = {};
  std::array<ParameterSlots, std::size_t(n)> parameters = {};
  std::array<InputSlot, std::size_t(n)> inputs = {};
  int parameter_count = 0;
  int input_count = 0;

  constexpr StaticTables() {
    const auto& tape = tape_of<Model>;
    const auto& kernels = kernels_of<Model, S>;
    make_program(tape, plans.train, kernels, train.data());
    make_program(tape, plans.evaluate, kernels, evaluate.data());
    make_program(tape, plans.decode, kernels, decode.data());
    parameter_count = make_parameter_slots(tape, plans.train, parameters.data());
    input_count = make_input_slots(tape, plans.train, inputs.data());
  }
};

template <class Model, class S, TrainerOptions options>
inline constexpr StaticTables<Model, S, options> static_tables;

template <class Model, class S, TrainerOptions options>
constexpr ModelLayout<typename S::real> make_static_layout() {
  using real = typename S::real;
  constexpr const auto& plans = static_plans<Model, S, options>;
  constexpr const auto& tables = static_tables<Model, S, options>;
  ModelLayout<real> l =
      make_layout<real>(tape_of<Model>, plans, StaticModel<Model, S, options>::plan_options);
  l.train = view_program<real>(plans.train, tables.train.data());
  l.evaluate = view_program<real>(plans.evaluate, tables.evaluate.data());
  l.decode = view_program<real>(plans.decode, tables.decode.data());
  l.parameters = {tables.parameters.data(), std::size_t(tables.parameter_count)};
  l.inputs = {tables.inputs.data(), std::size_t(tables.input_count)};
  l.update = update_kernels<S>;
  return l;
}

template <class Model, class S, TrainerOptions options>
inline constexpr auto static_layout = make_static_layout<Model, S, options>();

}  // namespace detail

/// Trains `Model` with the kernels of `S` (for a board Simd<float, Plain<Profile::fused>>) in an arena of its own.
template <class Model, class S, TrainerOptions options>
class Trainer : public Engine<typename S::real> {
  using real = typename S::real;

 public:
  static constexpr const auto& plans = detail::static_plans<Model, S, options>;
  static constexpr std::int64_t arena_bytes = plans.arena_bytes();
  static_assert(detail::ArenaFitsBudget<arena_bytes, options.budget_bytes,
                                        options.budget_bytes == 0 ? 0 : arena_bytes - options.budget_bytes>::value);

  explicit Trainer(Team team = {})
      : Engine<real>(detail::static_layout<Model, S, options>, arena_, team) {}

  /// See Engine.
  Status accumulate(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                    const Extent& extent) {
    static_assert(!options.fuse_update,
                  "thimble: gradients that are used up within the backward pass do not add up over micro-batches; call "
                  "train_step, or leave fuse_update out");
    return Engine<real>::accumulate(tokens, targets, extent);
  }

 private:
  alignas(kArenaAlignment) std::byte arena_[std::size_t(arena_bytes)];
};

}  // namespace thimble
