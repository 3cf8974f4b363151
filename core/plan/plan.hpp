#pragma once
/// The plan: every tensor of a run, how long it lives and where it lies in the arena.
///
/// Arena, from address 0: weights | optimizer moments | gradients of the weights | token and target ids | transient.
/// The first four persist; the transient part is shared by everything that lives for a while within a step. Where the
/// walk itself updates the weights, their gradients are transient, too. A machine may have a second region of RAM; each
/// tensor lies in one region as a whole, and what persists comes first in either.

#include "core/plan/placement.hpp"
#include "core/tape/walk.hpp"

namespace thimble {

inline constexpr std::int64_t kArenaAlignment = 64;

/// An offset from here on lies in the second region, whose first byte this is.
inline constexpr std::int64_t kSecondRegion = std::int64_t(1) << 37;

constexpr std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

enum class TensorKind : std::uint8_t {
  weight,
  first_moment,
  second_moment,
  weight_gradient,
  ids,
  output,    ///< an activation (or a filled input)
  saved,     ///< statistics that an op keeps for its backward
  gradient,  ///< of an activation
  scratch,   ///< lives for one step
  cache,     ///< rows remembered while text is generated
};

constexpr const char* text_of(TensorKind k) {
  constexpr const char* kTexts[] = {"weight", "first_moment", "second_moment", "weight_gradient", "ids",
                                    "output", "saved",        "gradient",      "scratch",         "cache"};
  return kTexts[int(k)];
}

/// A tensor: bytes at an offset from the start of the arena, in use from step `first` to step `last`.
/// The step after the last one is the optimizer's update.
struct Tensor {
  TensorKind kind = TensorKind::output;
  ValueId value = kNoValue;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
};

/// The tensors that one step works on, as indices into the plan's list; -1 where there is none.
struct StepTensors {
  std::int16_t out = -1;
  std::int16_t saved = -1;
  std::int16_t d_out = -1;
  std::int16_t scratch = -1;
  std::int16_t cache = -1;
  std::array<std::int16_t, kMaxOperands> operand = {-1, -1, -1, -1, -1};
  std::array<std::int16_t, kMaxOperands> d_operand = {-1, -1, -1, -1, -1};
};

/// What a plan is made for.
struct PlanOptions {
  Extent extent;          ///< the largest batch and context
  int workers = 1;        ///< the most workers
  int real_bytes = 4;     ///< 4 or 8
  int moments = 2;        ///< optimizer moments per weight: 2 for AdamW, 1 for SGD with momentum, 0 for neither
  bool gradients = true;  ///< false: weights only (evaluation, generation)
  bool fuse_update = false;  ///< each weight is updated within the backward pass: no gradient outlives it

  std::int64_t second_region_bytes = 0;  ///< RAM beside the main region; filled first

  constexpr bool keeps_gradients() const { return gradients && !fuse_update; }
};

/// What a plan takes of one region of RAM.
struct RegionUse {
  std::int64_t persistent_bytes = 0;
  std::int64_t transient_bytes = 0;
};

template <int N>
struct Plan {
  static constexpr int kMaxTensors = 9 * N + 8;

  Walk<N> walk;
  Extent extent;  ///< the largest batch and context
  std::array<StepTensors, std::size_t(3 * N)> step_tensors = {};
  std::array<Tensor, std::size_t(kMaxTensors)> tensors = {};
  int tensor_count = 0;
  std::int64_t weights_end = 0;    ///< bytes of the weights;
  std::int64_t moments_end = 0;    ///< with the moments;
  std::int64_t gradients_end = 0;  ///< with the gradients;
  std::int64_t persistent_end = 0; ///< with the ids: of all that persists, and its end in a single region
  std::int64_t transient_bytes = 0;
  RegionUse region[2];
  std::int64_t transient_lower_bound = 0;  ///< the most bytes that live at once
  std::int32_t seed_tensor = -1;     ///< gradient of a result that is not a loss: to be filled with 1
  std::int32_t update_scratch = -1;  ///< partial sums of the gradient norm: one double a block

  constexpr std::int64_t bytes() const { return persistent_end + transient_bytes; }
  constexpr std::int64_t gap_bytes() const { return transient_bytes - transient_lower_bound; }
  /// Index of the only tensor of a kind that a leaf has, or -1.
  constexpr int find(TensorKind kind, int value) const {
    for (int i = 0; i < tensor_count; ++i) {
      if (tensors[std::size_t(i)].kind == kind && tensors[std::size_t(i)].value == value) return i;
    }
    return -1;
  }
};

/// What the whole update needs beside weights, moments and gradients: one partial sum of squares a block.
inline constexpr std::int64_t kNormBlock = 4096;

namespace detail {

template <int N, class ScratchBytes>
class Planner {
 public:
  constexpr Planner(const Tape<N>& tape, const Walk<N>& walk, const PlanOptions& options,
                    ScratchBytes scratch_bytes)
      : tape_(tape), options_(options), scratch_bytes_(scratch_bytes) {
    plan_.walk = walk;
    plan_.extent = options.extent;
    live_.fill({});
  }

  constexpr Plan<N> run() {
    place_persistent();
    for (int s = 0; s < plan_.walk.count; ++s) plan_step(s);
    if (options_.gradients) add_update_scratch();
    keep_caches_and_input_gradients();
    place_transient();
    return plan_;
  }

 private:
  struct Live {
    std::int16_t weight = -1, weight_gradient = -1, out = -1, saved = -1, gradient = -1, cache = -1;
  };

  constexpr std::int16_t add(TensorKind kind, int value, std::int64_t bytes, int step) {
    plan_.tensors[std::size_t(plan_.tensor_count)] = {kind, ValueId(value), step, step, aligned(bytes), 0};
    return std::int16_t(plan_.tensor_count++);
  }
  constexpr Tensor& tensor(int i) { return plan_.tensors[std::size_t(i)]; }
  constexpr Live& live(int value) { return live_[std::size_t(value)]; }
  constexpr std::int64_t bytes_of(const Shape& shape) const {
    return shape.count(options_.extent) * options_.real_bytes;
  }
  constexpr std::int64_t out_bytes(const Value& v, StepKind kind) const {
    if (kind != StepKind::decode) return bytes_of(v.shape);
    const int cols = v.decode_cols > 0 ? v.decode_cols : v.shape.cols;
    return v.shape.with_cols(cols).count({1, 1}) * options_.real_bytes;
  }

  /// One kind of tensor for every parameter; returns the bytes up to here, of which `at` came before.
  constexpr std::int64_t place_per_parameter(TensorKind kind, std::int64_t at) {
    for (int i = 0; i < N; ++i) {
      if (tape_[i].role != Role::parameter) continue;
      const std::int16_t t = add(kind, i, bytes_of(tape_[i].shape), 0);
      tensor(t).last = plan_.walk.count;
      at += tensor(t).bytes;
      if (kind == TensorKind::weight) live(i).weight = t;
      if (kind == TensorKind::weight_gradient) live(i).weight_gradient = t;
    }
    return at;
  }

  constexpr void place_persistent() {
    plan_.weights_end = place_per_parameter(TensorKind::weight, 0);
    std::int64_t at = plan_.weights_end;
    if (options_.gradients && options_.moments >= 1) at = place_per_parameter(TensorKind::first_moment, at);
    if (options_.gradients && options_.moments >= 2) at = place_per_parameter(TensorKind::second_moment, at);
    plan_.moments_end = at;
    if (options_.keeps_gradients()) at = place_per_parameter(TensorKind::weight_gradient, at);
    plan_.gradients_end = at;
    for (int i = 0; i < N; ++i) {
      if (tape_[i].role != Role::ids && tape_[i].role != Role::input) continue;
      const bool ids = tape_[i].role == Role::ids;
      const std::int64_t bytes = ids ? tape_[i].shape.count(options_.extent) * 4 : bytes_of(tape_[i].shape);
      const std::int16_t t = add(ids ? TensorKind::ids : TensorKind::output, i, bytes, 0);
      tensor(t).last = plan_.walk.count;
      at += tensor(t).bytes;
      live(i).out = t;
    }
    plan_.persistent_end = at;
    first_transient_ = plan_.tensor_count;
    const InSecond second = choose_second(0, first_transient_, second_left());
    for (int i = 0; i < first_transient_; ++i) {
      std::int64_t& end = plan_.region[second[std::size_t(i)]].persistent_bytes;
      tensor(i).offset = end + (second[std::size_t(i)] ? kSecondRegion : 0);
      end += tensor(i).bytes;
    }
  }

  using Intervals = std::array<Interval, std::size_t(Plan<N>::kMaxTensors)>;
  using InSecond = std::array<bool, std::size_t(Plan<N>::kMaxTensors)>;

  /// `count` tensors from `first` on, those of the other region with no bytes.
  constexpr Intervals intervals_of(int first, int count, const InSecond& second, bool region) {
    Intervals intervals = {};
    for (int i = 0; i < count; ++i) {
      const Tensor& t = tensor(first + i);
      intervals[std::size_t(i)] = {t.first, t.last, second[std::size_t(i)] == region ? t.bytes : 0};
    }
    return intervals;
  }

  /// Which of `count` tensors lie in the second region: the largest first, as long as those that live at once take no
  /// more than `most` bytes.
  constexpr InSecond choose_second(int first, int count, std::int64_t most) {
    InSecond second = {};
    if (most <= 0) return second;
    int order[Plan<N>::kMaxTensors] = {};
    for (int i = 0; i < count; ++i) order[i] = i;
    merge_sort(order, count, [&](int a, int b) { return tensor(first + a).bytes > tensor(first + b).bytes; });
    for (int k = 0; k < count; ++k) {
      bool& chosen = second[std::size_t(order[k])];
      chosen = true;
      chosen = max_live_bytes(intervals_of(first, count, second, true), count) <= most;
    }
    return second;
  }
  constexpr std::int64_t second_left() const {
    return options_.second_region_bytes / kArenaAlignment * kArenaAlignment - plan_.region[1].persistent_bytes;
  }

  constexpr std::int16_t use(std::int16_t t, int step) {
    if (t >= 0) tensor(t).last = step;
    return t;
  }
  constexpr std::int16_t operand(int value, int step) {
    return tape_[value].role == Role::parameter ? live(value).weight : use(live(value).out, step);
  }
  constexpr std::int16_t gradient_of(int value, int step) {
    const bool parameter = tape_[value].role == Role::parameter;
    if (parameter && !options_.fuse_update) return live(value).weight_gradient;
    const int home = plan_.walk.gradient_home[std::size_t(value)];
    if (home == kNoValue) return -1;
    std::int16_t& gradient = parameter ? live(home).weight_gradient : live(home).gradient;
    if (gradient < 0) {
      gradient = add(parameter ? TensorKind::weight_gradient : TensorKind::gradient, home,
                     bytes_of(tape_[home].shape), step);
    }
    return use(gradient, step);
  }

  constexpr void plan_step(int s) {
    const Step& step = plan_.walk.steps[std::size_t(s)];
    const Value& v = tape_[step.value];
    StepTensors& t = plan_.step_tensors[std::size_t(s)];
    if (step.kind == StepKind::update) {
      t.operand[0] = live(step.value).weight;
      t.d_out = gradient_of(step.value, s);
      return;
    }
    const bool backward = step.kind == StepKind::backward;
    const bool produces = !backward || v.reverse == Reverse::loss;
    if (produces) {
      live(step.value).out = add(TensorKind::output, step.value, out_bytes(v, step.kind), s);
      if (v.saved_cols > 0) {
        live(step.value).saved = add(TensorKind::saved, step.value, bytes_of(v.saved_shape()), s);
      }
    }
    if (produces || v.needs.has_output()) t.out = use(live(step.value).out, s);
    t.saved = use(live(step.value).saved, s);
    for (int k = 0; k < kMaxOperands; ++k) {
      const ValueId o = v.operands[std::size_t(k)];
      if (o == kNoValue) continue;
      if (produces || v.needs.has_operand(k)) t.operand[std::size_t(k)] = operand(o, s);
      if (backward) t.d_operand[std::size_t(k)] = gradient_of(o, s);
    }
    if (backward && v.reverse != Reverse::loss) {
      t.d_out = gradient_of(step.value, s);
      if (step.value == N - 1) plan_.seed_tensor = t.d_out;
    }
    if (step.kind == StepKind::decode && v.cache_cols > 0) {
      const std::int64_t bytes = std::int64_t(options_.extent.context) * v.cache_cols * options_.real_bytes;
      t.cache = live(step.value).cache = add(TensorKind::cache, step.value, bytes, 0);
    }
    const std::int64_t scratch = scratch_bytes_(v, step.kind, options_);
    if (scratch > 0) t.scratch = add(TensorKind::scratch, step.value, scratch, s);
  }

  constexpr void add_update_scratch() {
    std::int64_t blocks = 0;
    for (int i = 0; i < N; ++i) {
      if (tape_[i].role == Role::parameter) {
        blocks += (tape_[i].shape.count({}) + kNormBlock - 1) / kNormBlock;
      }
    }
    plan_.update_scratch = add(TensorKind::scratch, kNoValue, blocks * 8, plan_.walk.update_begin);
    use(std::int16_t(plan_.update_scratch), plan_.walk.count);
  }

  /// The result stays readable after the walk, so do gradients of inputs; caches live through all steps.
  constexpr void keep_caches_and_input_gradients() {
    for (int i = 0; i < N; ++i) {
      if (tape_[i].role == Role::input) use(live(i).gradient, plan_.walk.count);
      use(live(i).cache, plan_.walk.count);
    }
    use(live(N - 1).out, plan_.walk.count);
  }

  constexpr void place_transient() {
    const int count = plan_.tensor_count - first_transient_;
    InSecond second = {};
    for (std::int64_t left = second_left(), most = left; most > 0;) {
      second = choose_second(first_transient_, count, most);
      const auto placed = place(intervals_of(first_transient_, count, second, true), count);
      if (placed.height_bytes <= left) {
        place_region(1, second, placed);
        break;
      }
      second = {};
      most -= placed.height_bytes - left;  // they fit at every step, but not as a whole
    }
    place_region(0, second, place(intervals_of(first_transient_, count, second, false), count));
  }

  template <class Placed>
  constexpr void place_region(int region, const InSecond& second, const Placed& placed) {
    RegionUse& use = plan_.region[region];
    use.transient_bytes = placed.height_bytes;
    const std::int64_t begin = use.persistent_bytes + (region == 1 ? kSecondRegion : 0);
    for (int i = 0; i < plan_.tensor_count - first_transient_; ++i) {
      if (int(second[std::size_t(i)]) == region) {
        tensor(first_transient_ + i).offset = begin + placed.offset[std::size_t(i)];
      }
    }
    plan_.transient_bytes += placed.height_bytes;
    plan_.transient_lower_bound += placed.lower_bound_bytes;
  }

  const Tape<N>& tape_;
  PlanOptions options_;
  ScratchBytes scratch_bytes_;
  Plan<N> plan_;
  std::array<Live, std::size_t(N)> live_;
  int first_transient_ = 0;
};

}  // namespace detail

/// Lays out a walk. `scratch_bytes(value, step kind, options)` says what a step's kernel needs beside its tensors.
template <int N, class ScratchBytes>
constexpr Plan<N> make_plan(const Tape<N>& tape, const Walk<N>& walk, const PlanOptions& options,
                            ScratchBytes scratch_bytes) {
  return detail::Planner<N, ScratchBytes>(tape, walk, options, scratch_bytes).run();
}

}  // namespace thimble
