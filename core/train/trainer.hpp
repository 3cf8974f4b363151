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
  std::int64_t second_budget_bytes = 0;                ///< of a second region of RAM, where the first is too small
};

namespace detail {

template <class Model, class S, TrainerOptions options>
struct StaticModel {
  using real = typename S::real;
  static constexpr const auto& tape = tape_of<Model>;
  static constexpr int n = tape.size;
  static constexpr PlanOptions plan_options{
      options.extent, 1, int(sizeof(real)), options.optimizer == OptimizerKind::adamw ? 2 : 1, true,
      options.fuse_update};

  /// In one region where that is enough.
  static constexpr PlanSet<n> make_plans() {
    const auto plans_for = [](const PlanOptions& o) {
      return make_plan_set(tape, schedule_of(tape, options.recompute), o);
    };
    const PlanSet<n> plans = plans_for(plan_options);
    if (options.second_budget_bytes == 0 || plans.arena_bytes() <= options.budget_bytes) return plans;
    PlanOptions both = plan_options;
    both.second_region_bytes = options.second_budget_bytes;
    return plans_for(both);
  }
};

template <class Model, class S, TrainerOptions options>
inline constexpr auto static_plans = StaticModel<Model, S, options>::make_plans();

// What the compiler quotes where a model does not fit.
template <std::int64_t bytes>
struct Needed;
template <std::int64_t bytes>
struct Available;
template <std::int64_t bytes>
struct Missing;
struct LargeTensor {
  char name[Name::kCapacity + 1] = {};
  char kind[24] = {};
  std::int64_t bytes = 0;
};

/// The tensor of a plan that has `rank` larger ones.
template <int N>
constexpr LargeTensor large_tensor(const Tape<N>& tape, const Plan<N>& plan, int rank) {
  int order[Plan<N>::kMaxTensors] = {};
  for (int i = 0; i < plan.tensor_count; ++i) order[i] = i;
  merge_sort(order, plan.tensor_count, [&](int a, int b) {
    return plan.tensors[std::size_t(a)].bytes > plan.tensors[std::size_t(b)].bytes;
  });
  const Tensor& t = plan.tensors[std::size_t(order[rank])];
  LargeTensor large;
  if (t.value != kNoValue) {
    for (int i = 0; i < tape[t.value].name.size(); ++i) large.name[i] = tape[t.value].name.text[i];
  }
  for (int i = 0; text_of(t.kind)[i] != 0; ++i) large.kind[i] = text_of(t.kind)[i];
  large.bytes = t.bytes;
  return large;
}

template <bool fits, class Needed, class Available, class Missing, LargeTensor... largest>
struct Budget {
  static_assert(fits,
                "thimble: the model does not fit its budget (template arguments: bytes needed, available, missing; the "
                "largest tensors). Recompute blocks, fuse the update, take a smaller batch or context, or an optimizer "
                "with fewer moments");
  static constexpr bool holds = true;
};

template <class Model, class S, TrainerOptions options>
constexpr bool fits_budget() {
  constexpr const auto& plans = static_plans<Model, S, options>;
  constexpr std::int64_t missing = plans.region_bytes(0) - options.budget_bytes;
  if constexpr (options.budget_bytes > 0 && missing > 0) {
    return Budget<false, Needed<plans.arena_bytes()>, Available<options.budget_bytes + options.second_budget_bytes>,
                  Missing<missing>, large_tensor(tape_of<Model>, plans.train, 0),
                  large_tensor(tape_of<Model>, plans.train, 1), large_tensor(tape_of<Model>, plans.train, 2)>::holds;
  }
  return true;
}

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
  static_assert(detail::fits_budget<Model, S, options>());

  /// What of the arena lies in the second region: an object of this type, placed there, goes to the constructor.
  static constexpr bool uses_second_region = plans.region_bytes(1) > 0;
  struct SecondPart {
    alignas(kArenaAlignment) std::byte bytes[std::size_t(uses_second_region ? plans.region_bytes(1) : 1)];
  };

  explicit Trainer(Team team = {})
    requires(!uses_second_region)
      : Engine<real>(detail::static_layout<Model, S, options>, {arena_}, team) {}
  explicit Trainer(SecondPart& second, Team team = {})
      : Engine<real>(detail::static_layout<Model, S, options>,
                     {arena_, uses_second_region ? second.bytes : nullptr}, team) {}

  /// See Engine.
  Status accumulate(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                    const Extent& extent) {
    static_assert(!options.fuse_update,
                  "thimble: gradients that are used up within the backward pass do not add up over micro-batches; call "
                  "train_step, or leave fuse_update out");
    return Engine<real>::accumulate(tokens, targets, extent);
  }

 private:
  alignas(kArenaAlignment) std::byte arena_[std::size_t(plans.region_bytes(0))];
};

}  // namespace thimble
