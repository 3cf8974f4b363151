/// The reverse walk: which steps, in which order, whose gradient is added and whose storage is shared.

#include "core/train/layout.hpp"
#include "models/decoder.hpp"
#include "models/neuron.hpp"
#include "models/plain_stack.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble;

namespace {

constexpr const auto& kDecoder = tape_of<Decoder>;

template <int N>
constexpr int count_steps(const Walk<N>& w, StepKind kind) {
  int n = 0;
  for (int i = 0; i < w.count; ++i) n += w.steps[std::size_t(i)].kind == kind;
  return n;
}

template <int N>
constexpr int step_of(const Tape<N>& tape, const Walk<N>& w, StepKind kind, std::string_view name) {
  for (int i = 0; i < w.count; ++i) {
    const Step& s = w.steps[std::size_t(i)];
    if (s.kind == kind && tape[s.value].name.view() == name) return i;
  }
  return -1;
}

/// Every kept tensor a backward step reads must have been computed, and not yet been overwritten by a later use.
template <int N>
constexpr bool operands_are_ready(const Tape<N>& tape, const Walk<N>& w, const Recompute<N>& schedule) {
  std::array<bool, std::size_t(N)> ready = {};
  for (int i = 0; i < N; ++i) ready[std::size_t(i)] = tape[i].is_leaf();
  bool backward_began = false;
  for (int i = 0; i < w.count; ++i) {
    const Step& s = w.steps[std::size_t(i)];
    const Value& v = tape[s.value];
    if (i == w.backward_begin) {
      backward_began = true;
      for (int k = 0; k < N; ++k) ready[std::size_t(k)] = ready[std::size_t(k)] && (tape[k].is_leaf() || schedule.keep[std::size_t(k)]);
    }
    for (int k = 0; k < kMaxOperands; ++k) {
      const ValueId o = v.operands[std::size_t(k)];
      const bool reads = o != kNoValue && (s.kind != StepKind::backward || v.needs.has_operand(k));
      if (reads && !ready[std::size_t(o)]) return false;
    }
    if (s.kind == StepKind::backward && v.needs.has_output() && !ready[std::size_t(s.value)]) return false;
    if (s.kind != StepKind::backward) ready[std::size_t(s.value)] = true;
    if (s.kind == StepKind::recompute && !backward_began) return false;
  }
  return true;
}

constexpr auto kAll = keep_all(kDecoder);
constexpr auto kBlocks = keep_block_inputs(kDecoder);
constexpr auto kWalkAll = training_walk(kDecoder, kAll);
constexpr auto kWalkBlocks = training_walk(kDecoder, kBlocks);

// Two ids, two tables, embedding, position; 12 parameters and 10 values a block; final norm and its two vectors, loss.
static_assert(kDecoder.size == 2 + 2 + 2 + 2 * (12 + 10) + 3 + 1);
// Keeping everything: forward once without the loss, backward once for every op.
static_assert(count_steps(kWalkAll, StepKind::forward) == 2 + 20 + 1);
static_assert(count_steps(kWalkAll, StepKind::backward) == 2 + 20 + 1 + 1);
static_assert(count_steps(kWalkAll, StepKind::recompute) == 0);
static_assert(kWalkAll.steps[std::size_t(kWalkAll.backward_begin)].value == kDecoder.size - 1);
// Keeping block inputs: what backward reads of each block is computed again, the two last values of a block are not
// (nothing reads h.0.mlp, and h.0.out is the next block's input).
static_assert(count_steps(kWalkBlocks, StepKind::recompute) == 2 * 8);
// Without what is computed element by element: GELU of each block, once again before the layer behind it wants it.
constexpr auto kElements = keep_all_but_elements(kDecoder);
constexpr auto kWalkElements = training_walk(kDecoder, kElements);
static_assert(count_steps(kWalkElements, StepKind::recompute) == 2);
static_assert(step_of(kDecoder, kWalkElements, StepKind::recompute, "h.0.act") + 1 ==
              step_of(kDecoder, kWalkElements, StepKind::backward, "h.0.mlp"));
static_assert(operands_are_ready(kDecoder, kWalkElements, kElements));
static_assert(operands_are_ready(kDecoder, kWalkAll, kAll));
static_assert(operands_are_ready(kDecoder, kWalkBlocks, kBlocks));

// The residual stream's gradient is one buffer all the way: the sum passes it on, the norm's backward adds to it.
constexpr int id(std::string_view name) { return kDecoder.find(name); }
static_assert(kWalkAll.gradient_home[std::size_t(id("h.0.mid"))] == kWalkAll.gradient_home[std::size_t(id("h.0.out"))]);
static_assert(kWalkAll.gradient_home[std::size_t(id("h.0.mlp"))] == kWalkAll.gradient_home[std::size_t(id("h.0.out"))]);
static_assert(kWalkAll.gradient_home[std::size_t(id("h.0.ln_1"))] == id("h.0.ln_1"));
static_assert(kWalkAll.steps[std::size_t(step_of(kDecoder, kWalkAll, StepKind::backward, "h.0.ln_2"))].accumulate == 1);
// The tied table receives its gradient twice: the head sets it, the embedding adds.
static_assert(kWalkAll.steps[std::size_t(step_of(kDecoder, kWalkAll, StepKind::backward, "loss"))].accumulate == 0);
static_assert(kWalkAll.steps[std::size_t(step_of(kDecoder, kWalkAll, StepKind::backward, "wte"))].accumulate == 2);

/// One update of every parameter, after the last step that takes it as an operand, and right behind that step.
template <int N>
constexpr bool updates_are_in_their_place(const Tape<N>& tape, const Walk<N>& w) {
  int updates = 0;
  for (int p = 0; p < N; ++p) {
    if (tape[p].role != Role::parameter) continue;
    const int update = step_of(tape, w, StepKind::update, tape[p].name.view());
    int last = -1;
    for (int s = 0; s < w.count; ++s) {
      for (const ValueId o : tape[w.steps[std::size_t(s)].value].operands) last = o == p ? s : last;
    }
    if (update < w.backward_begin || last < 0 || update <= last) return false;
    for (int s = last + 1; s < update; ++s) {
      if (w.steps[std::size_t(s)].kind != StepKind::update) return false;
    }
    ++updates;
  }
  return updates == count_steps(w, StepKind::update);
}

/// The steps of a walk without its updates are those of another.
template <int N>
constexpr bool same_but_for_updates(const Walk<N>& with, const Walk<N>& without) {
  int s = 0;
  for (int i = 0; i < with.count; ++i) {
    const Step& a = with.steps[std::size_t(i)];
    if (a.kind == StepKind::update) continue;
    const Step& b = without.steps[std::size_t(s++)];
    if (a.kind != b.kind || a.value != b.value || a.accumulate != b.accumulate) return false;
  }
  return s == without.count && with.gradient_home == without.gradient_home;
}

constexpr auto kFusedAll = with_updates(kDecoder, kWalkAll);
constexpr auto kFusedBlocks = with_updates(kDecoder, kWalkBlocks);
static_assert(kWalkAll.update_begin == kWalkAll.count);
static_assert(updates_are_in_their_place(kDecoder, kFusedAll) && same_but_for_updates(kFusedAll, kWalkAll));
static_assert(updates_are_in_their_place(kDecoder, kFusedBlocks) && same_but_for_updates(kFusedBlocks, kWalkBlocks));
// The loss stands before anything is updated. The head gives the tied table its first gradient, the embedding its last:
// only then is it updated, at the very end.
static_assert(kFusedAll.update_begin > step_of(kDecoder, kFusedAll, StepKind::backward, "loss"));
static_assert(step_of(kDecoder, kFusedAll, StepKind::update, "wte.weight") == kFusedAll.count - 1);
static_assert(step_of(kDecoder, kFusedAll, StepKind::update, "h.1.mlp.c_proj.weight") <
              step_of(kDecoder, kFusedAll, StepKind::backward, "h.1.act"));

/// The weight `w` is applied twice, and once more when the first product is computed again.
struct SharedWeight {
  static constexpr void build(TapeBuilder& t) {
    const ValueId x = t.input("x", Shape::matrix(2, 16), Init::constant(1));
    const ValueId w = t.parameter("w", Shape::matrix(16, 16), Init::constant(1));
    const ValueId a = tanh(t, "a", linear(t, "xw", x, w, kNoValue));
    sum(t, "sum", tanh(t, "y", linear(t, "aw", a, w, kNoValue)));
  }
};
constexpr const auto& kSharedWeight = tape_of<SharedWeight>;
constexpr auto kNothingKept = schedule_of(kSharedWeight, "sum");
constexpr auto kSharedWeightWalk = with_updates(kSharedWeight, training_walk(kSharedWeight, kNothingKept));
static_assert(updates_are_in_their_place(kSharedWeight, kSharedWeightWalk));
static_assert(count_steps(kSharedWeightWalk, StepKind::update) == 1);
static_assert(step_of(kSharedWeight, kSharedWeightWalk, StepKind::update, "w") == kSharedWeightWalk.count - 1);
static_assert(step_of(kSharedWeight, kSharedWeightWalk, StepKind::recompute, "xw") > 0);

/// y = x + gelu(x): gelu may not write its input's gradient over a buffer that x's own still waits in.
struct SharedThenInPlace {
  static constexpr void build(TapeBuilder& t) {
    const ValueId raw = t.input("raw", Shape::matrix(2, 16), Init::constant(1));
    const ValueId x = tanh(t, "x", raw);
    const ValueId g = gelu(t, "g", x, GeluKind::erf);
    sum(t, "sum", add(t, "y", x, g));
  }
};
constexpr const auto& kShared = tape_of<SharedThenInPlace>;
constexpr auto kSharedWalk = training_walk(kShared, keep_all(kShared));
static_assert(kSharedWalk.gradient_home[std::size_t(kShared.find("g"))] !=
              kSharedWalk.gradient_home[std::size_t(kShared.find("x"))]);

}  // namespace

TEST_GROUP(Walk) {};

TEST(Walk, GapToTheLowerBoundIsZeroForTheDecoder) {
  constexpr PlanOptions options{{1, 9}, 1, 4, 2, true};
  constexpr auto all = make_plan(kDecoder, kWalkAll, options, op_scratch_bytes);
  constexpr auto blocks = make_plan(kDecoder, kWalkBlocks, options, op_scratch_bytes);
  static_assert(all.gap_bytes() == 0 && blocks.gap_bytes() == 0);
  CHECK(blocks.transient_bytes < all.transient_bytes);
}

TEST(Walk, FusedUpdatesLeaveNoGradientBehind) {
  constexpr PlanOptions options{{1, 9}, 1, 4, 2, true}, fused_options{{1, 9}, 1, 4, 2, true, true};
  constexpr auto plan = make_plan(kDecoder, kWalkAll, options, op_scratch_bytes);
  constexpr auto fused = make_plan(kDecoder, kFusedAll, fused_options, op_scratch_bytes);
  static_assert(fused.gap_bytes() == 0);
  static_assert(fused.gradients_end == fused.moments_end && fused.moments_end == plan.moments_end);
  static_assert(fused.bytes() < plan.bytes());
  for (int i = 0; i < fused.tensor_count; ++i) {
    const Tensor& t = fused.tensors[std::size_t(i)];
    if (t.kind != TensorKind::weight_gradient) continue;
    const Step& last = fused.walk.steps[std::size_t(t.last)];
    CHECK(t.offset >= fused.persistent_end);
    CHECK(last.kind == StepKind::update && last.value == t.value);
  }
}

TEST(Walk, ATextIsTheScheduleThatItNames) {
  static_assert(schedule_of(kDecoder, "none").keep == kAll.keep);
  static_assert(schedule_of(kDecoder, "elements").keep == kElements.keep);
  static_assert(schedule_of(kDecoder, "blocks").keep == kBlocks.keep);
}

TEST(Walk, AnEmptyTextNamesNothing) {
  int unknown = 0;
  schedule_of(kDecoder, "", [&](std::string_view pattern) { unknown += pattern.empty(); });
  LONGS_EQUAL(1, unknown);
}

TEST(Walk, AListOfNamesKeepsJustThose) {
  constexpr auto schedule = schedule_of(kDecoder, "h.*.qkv,h.*.attn,embed");
  for (int i = 0; i < kDecoder.size; ++i) {
    const std::string_view name = kDecoder[i].name.view();
    const bool listed = name == "embed" || (name.starts_with("h.") && (name.ends_with(".qkv") || name.ends_with(".attn")));
    CHECK_EQUAL(kDecoder[i].is_leaf() || listed, schedule.keep[std::size_t(i)]);
  }
  constexpr auto walk = training_walk(kDecoder, schedule);
  static_assert(operands_are_ready(kDecoder, walk, schedule));
  static_assert(step_of(kDecoder, walk, StepKind::recompute, "h.1.qkv") < 0);
  static_assert(step_of(kDecoder, walk, StepKind::recompute, "h.1.mid") >= 0);
  CHECK(count_steps(walk, StepKind::recompute) > 0);
}

TEST(Walk, TheNeuronGoesBackThroughEveryOpOnce) {
  constexpr auto walk = training_walk(tape_of<Neuron>, keep_all(tape_of<Neuron>));
  LONGS_EQUAL(5, count_steps(walk, StepKind::forward));
  LONGS_EQUAL(5, count_steps(walk, StepKind::backward));
}
