#pragma once
/// The program: a walk as a table of kernels and places in the arena, ready to be run in a loop.

#include "core/train/kernels.hpp"

namespace thimble {

/// A place in the arena, in units of kArenaAlignment bytes; from kSecondPlace on in the second region.
using ArenaPlace = std::uint32_t;
inline constexpr ArenaPlace kNoPlace = 0xFFFFFFFFu;
inline constexpr ArenaPlace kSecondPlace = ArenaPlace(kSecondRegion / kArenaAlignment);

/// Where the regions of an arena begin, each aligned to kArenaAlignment.
struct Arena {
  std::byte* first = nullptr;
  std::byte* second = nullptr;  ///< null where there is one region
};

template <class real>
struct ProgramStep {
  Kernel<real> kernel = nullptr;
  ArenaPlace out = kNoPlace;
  ArenaPlace saved = kNoPlace;
  ArenaPlace d_out = kNoPlace;
  ArenaPlace scratch = kNoPlace;
  ArenaPlace cache = kNoPlace;
  ArenaPlace operand[kMaxOperands] = {};
  ArenaPlace d_operand[kMaxOperands] = {};
  std::int32_t fixed_rows = 0;  ///< 0: as many rows as the run has tokens
  double scalar = 0;
  ValueId value = kNoValue;
  StepKind kind = StepKind::forward;
  std::uint8_t accumulate = 0;
  std::uint8_t parameter_mask = 0;  ///< bit k: operand k is a parameter, whose gradient adds up over micro-batches
  bool alone = false;               ///< one worker does all of it, see kSharedWork
};

/// The least work, in floating-point operations and bytes, that is shared among workers. Less takes one of them about as
/// long as it takes several to wait for each other and to fetch what the others wrote.
inline constexpr std::int64_t kSharedWork = 1'000'000;

/// A table of steps and the places that the engine itself looks at.
template <class real>
struct ProgramView {
  const ProgramStep<real>* steps = nullptr;
  std::int32_t count = 0;
  std::int32_t backward_begin = 0;
  std::int32_t update_begin = 0;         ///< the first update; `count` where the steps update nothing
  ArenaPlace result = kNoPlace;          ///< the last value
  ArenaPlace seed = kNoPlace;            ///< gradient of a result that is not a loss
  ArenaPlace update_scratch = kNoPlace;  ///< partial sums of the gradient norm
  bool alone = false;                    ///< all steps are
};

/// A parameter's places in the arena.
struct ParameterSlots {
  ValueId value = kNoValue;
  bool decays = false;
  std::int64_t count = 0;
  ArenaPlace weight = kNoPlace;
  ArenaPlace first_moment = kNoPlace;
  ArenaPlace second_moment = kNoPlace;
  ArenaPlace gradient = kNoPlace;  ///< kNoPlace where it does not outlive the pass
};

/// A real-valued input's place.
struct InputSlot {
  ValueId value = kNoValue;
  ArenaPlace place = kNoPlace;
};

namespace detail {

constexpr ArenaPlace place_of(const Tensor& t) { return ArenaPlace(t.offset / kArenaAlignment); }

template <int N>
constexpr ArenaPlace place_of(const Plan<N>& plan, int tensor) {
  return tensor < 0 ? kNoPlace : place_of(plan.tensors[std::size_t(tensor)]);
}

}  // namespace detail

/// Bytes of all tensors that a step works on, scratch memory aside, each counted once. Of a table that rows are taken from
/// these are more than it touches.
template <class Tensors>
constexpr std::int64_t bytes_touched(const Tensors& tensors, const StepTensors& t) {
  std::int64_t bytes = 0;
  const auto add = [&](int i) { bytes += i < 0 ? 0 : tensors[std::size_t(i)].bytes; };
  for (const int i : {t.out, t.saved, t.d_out}) add(i);
  for (const int i : t.operand) add(i);
  for (const int i : t.d_operand) add(i == t.d_out ? -1 : i);
  return bytes;
}

/// Fills `out[0..count)` with the steps of a plan; returns their number.
template <class real, int N>
constexpr int make_program(const Tape<N>& tape, const Plan<N>& plan,
                           const std::array<OpKernels<real>, std::size_t(N)>& kernels, ProgramStep<real>* out) {
  for (int s = 0; s < plan.walk.count; ++s) {
    const Step& step = plan.walk.steps[std::size_t(s)];
    const StepTensors& t = plan.step_tensors[std::size_t(s)];
    const Value& v = tape[step.value];
    ProgramStep<real>& p = out[s];
    p.kernel = kernels[std::size_t(step.value)][step.kind];
    p.out = detail::place_of(plan, t.out);
    p.saved = detail::place_of(plan, t.saved);
    p.d_out = detail::place_of(plan, t.d_out);
    p.scratch = detail::place_of(plan, t.scratch);
    p.cache = detail::place_of(plan, t.cache);
    for (int k = 0; k < kMaxOperands; ++k) {
      p.operand[k] = detail::place_of(plan, t.operand[std::size_t(k)]);
      p.d_operand[k] = detail::place_of(plan, t.d_operand[std::size_t(k)]);
      const ValueId o = v.operands[std::size_t(k)];
      if (o != kNoValue && tape[o].role == Role::parameter) {
        p.parameter_mask = std::uint8_t(p.parameter_mask | 1u << k);
      }
    }
    p.fixed_rows = v.shape.kind == RowKind::fixed ? v.shape.fixed_rows : 0;
    p.scalar = v.scalar;
    p.value = step.value;
    p.kind = step.kind;
    p.accumulate = step.accumulate;
    const Extent extent = step.kind == StepKind::decode ? Extent{1, 1} : plan.extent;
    const Flops flops = step.kind == StepKind::update ? Flops{} : op_flops(v, extent);
    const std::int64_t work = step.kind == StepKind::backward ? flops.backward : flops.forward;
    p.alone = work + bytes_touched(plan.tensors, plan.step_tensors[std::size_t(s)]) < kSharedWork;
  }
  return plan.walk.count;
}

/// The view of a plan's finished table.
template <class real, int N>
constexpr ProgramView<real> view_program(const Plan<N>& plan, const ProgramStep<real>* steps) {
  const Walk<N>& walk = plan.walk;
  ProgramView<real> v{steps, walk.count, walk.backward_begin, walk.update_begin, kNoPlace, kNoPlace, kNoPlace, true};
  for (int s = 0; s < walk.count; ++s) {
    const bool last_value = walk.steps[std::size_t(s)].value == N - 1;
    const int out = plan.step_tensors[std::size_t(s)].out;
    if (last_value && out >= 0) v.result = detail::place_of(plan, out);
    v.alone = v.alone && steps[s].alone;
  }
  v.seed = detail::place_of(plan, plan.seed_tensor);
  v.update_scratch = detail::place_of(plan, plan.update_scratch);
  return v;
}

/// Fills `out` with the places of every parameter, in tape order; returns their number.
template <int N>
constexpr int make_parameter_slots(const Tape<N>& tape, const Plan<N>& plan, ParameterSlots* out) {
  int count = 0;
  for (int i = 0; i < plan.tensor_count; ++i) {
    const Tensor& t = plan.tensors[std::size_t(i)];
    if (t.kind > TensorKind::weight_gradient) continue;
    if (t.kind == TensorKind::weight_gradient && plan.walk.update_begin < plan.walk.count) continue;
    int slot = 0;
    while (slot < count && out[slot].value != t.value) ++slot;
    if (slot == count) ++count;
    ParameterSlots& p = out[slot];
    const Shape& shape = tape[t.value].shape;
    p.value = t.value;
    p.decays = shape.rank >= 2;
    p.count = shape.count({});
    const ArenaPlace place = detail::place_of(t);
    if (t.kind == TensorKind::weight) p.weight = place;
    if (t.kind == TensorKind::first_moment) p.first_moment = place;
    if (t.kind == TensorKind::second_moment) p.second_moment = place;
    if (t.kind == TensorKind::weight_gradient) p.gradient = place;
  }
  return count;
}

/// Called around every step, for traces, profiles, and the gradients on their way. Null members are skipped.
template <class real>
struct StepObserver {
  void* state = nullptr;
  void (*before)(void* state, const ProgramStep<real>&, const Call<real>&) = nullptr;
  void (*after)(void* state, const ProgramStep<real>&, const Call<real>&) = nullptr;
};

/// The optimizer's step of one parameter, for a program that updates. Every worker calls it at the same time.
template <class real>
struct ParameterUpdate {
  void* state = nullptr;
  void (*run)(void* state, const ProgramStep<real>&, const Call<real>&, const Worker&) = nullptr;
};

/// What stays the same over all steps of one run of a program.
template <class real>
struct RunState {
  Arena arena;
  Extent extent;
  std::int32_t position = 0;           ///< decode: number of earlier tokens
  bool add_to_gradients = false;       ///< from the second micro-batch of a window on
  const StepObserver<real>* observer = nullptr;
  ParameterUpdate<real> update;

  template <class T = real>
  THIMBLE_INLINE T* at(ArenaPlace p) const {
    if (p == kNoPlace) return nullptr;
    std::byte* const region = p < kSecondPlace ? arena.first : arena.second;
    return reinterpret_cast<T*>(region + std::size_t(p % kSecondPlace) * kArenaAlignment);
  }
};

/// The call of one step.
template <class real>
Call<real> make_call(const ProgramStep<real>& step, const RunState<real>& run) {
  Call<real> c;
  c.out = run.at(step.out);
  c.saved = run.at(step.saved);
  c.d_out = run.at(step.d_out);
  c.scratch = run.template at<void>(step.scratch);
  c.cache = run.at(step.cache);
  for (int k = 0; k < kMaxOperands; ++k) {
    c.operands[k] = run.template at<void>(step.operand[k]);
    c.d_operands[k] = run.at(step.d_operand[k]);
  }
  c.extent = run.extent;
  c.rows = step.fixed_rows > 0 ? step.fixed_rows : run.extent.tokens();
  c.position = run.position;
  c.accumulate = std::uint8_t(step.accumulate | (run.add_to_gradients ? step.parameter_mask : 0));
  c.scalar = step.scalar;
  return c;
}

/// One step, with the observer's calls around it.
template <class real>
void run_step(const ProgramStep<real>& step, const RunState<real>& run, const Worker& worker) {
  const Call<real> call = make_call(step, run);
  const StepObserver<real>* const o = run.observer;
  if (o && o->before) {
    if (worker.index == 0) o->before(o->state, step, call);
    worker.barrier();
  }
  if (step.kind == StepKind::update) {
    run.update.run(run.update.state, step, call, worker);
  } else {
    step.kernel(call, worker);
  }
  if (o && o->after) {
    worker.barrier();
    if (worker.index == 0) o->after(o->state, step, call);
  }
}

/// Runs steps [begin, end) of a program. Every worker of a team calls this at the same time; between steps that worker 0
/// does alone they do not meet.
template <class real>
void run_steps(const ProgramView<real>& program, int begin, int end, const RunState<real>& run,
               const Worker& worker) {
  for (int s = begin; s < end; ++s) {
    const ProgramStep<real>& step = program.steps[s];
    if (!step.alone) {
      run_step(step, run, worker);
    } else if (worker.index == 0) {
      run_step(step, run, Worker{});
    }
    if (!step.alone || s + 1 == end || !program.steps[s + 1].alone) worker.barrier();
  }
}

}  // namespace thimble
