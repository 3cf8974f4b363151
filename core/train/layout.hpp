#pragma once
/// From plans to a layout: the tables that an engine runs on. All constexpr, so that a board has them in flash; the
/// host calls the same functions at run time for the batch and schedule that its user asks for.

#include "core/train/engine.hpp"

namespace thimble {

/// A model's three plans over the same persistent tensors.
template <int N>
struct PlanSet {
  Plan<N> train;
  Plan<N> evaluate;
  Plan<N> decode;

  /// Of one of the two regions of RAM.
  constexpr std::int64_t region_bytes(int region) const {
    std::int64_t most = 0;
    for (const Plan<N>* plan : {&train, &evaluate, &decode}) {
      if (plan->region[region].transient_bytes > most) most = plan->region[region].transient_bytes;
    }
    return train.region[region].persistent_bytes + most;
  }
  constexpr std::int64_t arena_bytes() const { return region_bytes(0) + region_bytes(1); }
};

/// The steps of a training pass for a plan with these options.
template <int N>
constexpr Walk<N> training_walk(const Tape<N>& tape, const Recompute<N>& schedule, const PlanOptions& options) {
  const Walk<N> walk = training_walk(tape, schedule);
  return options.fuse_update ? with_updates(tape, walk) : walk;
}

template <int N>
constexpr PlanSet<N> make_plan_set(const Tape<N>& tape, const Recompute<N>& schedule, const PlanOptions& options) {
  const auto plan = [&](const Walk<N>& walk) { return make_plan(tape, walk, options, op_scratch_bytes); };
  return {plan(training_walk(tape, schedule, options)), plan(forward_walk(tape)),
          plan(forward_walk(tape, StepKind::decode))};
}

/// Can the model be asked for the next token? (It takes token ids and ends in logits.)
constexpr bool generates(TapeView tape) { return tape[tape.size - 1].decode_cols > 0; }

/// The number of token ids: rows of the first embedding table.
constexpr int vocabulary_of(TapeView tape) {
  for (int i = 0; i < tape.size; ++i) {
    if (tape[i].op == Embedding::name.hash) return tape[i].dims.in;
  }
  return 0;
}

/// The longest sequence that the tape itself can take (rows of its position table), or `otherwise`.
constexpr int context_limit_of(TapeView tape, int otherwise) {
  for (int i = 0; i < tape.size; ++i) {
    if (tape[i].op == Positional::name.hash) return tape[i].dims.in;
  }
  return otherwise;
}

/// Everything of a layout that is not a table: where ids lie, how large it all is.
template <class real, int N>
constexpr ModelLayout<real> make_layout(const Tape<N>& tape, const PlanSet<N>& plans, const PlanOptions& options) {
  ModelLayout<real> l;
  l.tape = tape;
  const int tokens = tape.find("tokens");
  const int targets = tape.find("targets");
  if (tokens >= 0) l.tokens = detail::place_of(plans.train, plans.train.find(TensorKind::ids, tokens));
  if (targets >= 0) l.targets = detail::place_of(plans.train, plans.train.find(TensorKind::ids, targets));
  l.vocabulary = vocabulary_of(tape);
  l.limit = options.extent;
  for (int r = 0; r < 2; ++r) l.region[r] = {plans.train.region[r].persistent_bytes, plans.region_bytes(r)};
  l.arena_bytes = plans.arena_bytes();
  if (options.fuse_update) l.fused_step = &Engine<real>::fused_step;
  return l;
}

/// Fills `out` with the places of the real-valued inputs; returns their number.
template <int N>
constexpr int make_input_slots(const Tape<N>& tape, const Plan<N>& plan, InputSlot* out) {
  int count = 0;
  for (int i = 0; i < N; ++i) {
    if (tape[i].role != Role::input) continue;
    out[count++] = {ValueId(i), detail::place_of(plan, plan.find(TensorKind::output, i))};
  }
  return count;
}

}  // namespace thimble
