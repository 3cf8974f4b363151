#pragma once
/// The walk over a tape: forward steps, then the gradient's way back, derived from the tape alone.

#include "core/tape/recompute.hpp"

namespace thimble {

enum class StepKind : std::uint8_t {
  forward,
  recompute,  ///< forward again, within the backward pass
  backward,
  decode,  ///< forward of one token that follows `position` earlier ones: text generation
  update,  ///< the optimizer's step of one parameter, within the backward pass (see with_updates)
};

/// One kernel call. In a backward step, bit k of `accumulate` says that operand k's gradient is added to what is
/// already there; otherwise it is overwritten. (Parameters also add from the second micro-batch on.)
struct Step {
  StepKind kind = StepKind::forward;
  ValueId value = kNoValue;
  std::uint8_t accumulate = 0;
};

template <int N>
struct Walk {
  std::array<Step, std::size_t(3 * N)> steps = {};
  int count = 0;
  int backward_begin = 0;  ///< index of the first step after the forward pass
  int update_begin = 0;    ///< index of the first update; `count` where there is none
  /// The value in whose storage a value's gradient lives: itself, or the output of an op that passes it on
  /// unchanged. kNoValue where no gradient arrives.
  std::array<ValueId, std::size_t(N)> gradient_home = {};
};

/// Does a gradient flow to each value?
template <int N>
constexpr std::array<bool, std::size_t(N)> gradient_wanted(const Tape<N>& tape) {
  std::array<bool, std::size_t(N)> wanted = {};
  for (int i = 0; i < N; ++i) {
    const Value& v = tape[i];
    bool w = v.role == Role::parameter || v.role == Role::input;
    for (ValueId o : v.operands) w = w || (o != kNoValue && wanted[std::size_t(o)]);
    wanted[std::size_t(i)] = w;
  }
  return wanted;
}

/// Every op once, nothing backward: `kind` is forward (evaluation) or decode (generation).
template <int N>
constexpr Walk<N> forward_walk(const Tape<N>& tape, StepKind kind = StepKind::forward) {
  Walk<N> w;
  w.gradient_home.fill(kNoValue);
  for (int i = 0; i < N; ++i) {
    if (!tape[i].is_leaf()) w.steps[std::size_t(w.count++)] = {kind, ValueId(i), 0};
  }
  w.backward_begin = w.update_begin = w.count;
  return w;
}

namespace detail {

template <int N>
class ReverseWalker {
 public:
  constexpr ReverseWalker(const Tape<N>& tape, const Recompute<N>& schedule)
      : tape_(tape), wanted_(gradient_wanted(tape)) {
    walk_.gradient_home.fill(kNoValue);
    for (int i = 0; i < N; ++i) {
      const Value& v = tape[i];
      available_[std::size_t(i)] = v.is_leaf() || schedule.keep[std::size_t(i)];
    }
  }

  constexpr Walk<N> run() {
    for (int i = 0; i < N; ++i) {
      const bool computed_by_backward = i == N - 1 && tape_[i].reverse == Reverse::loss;
      if (!tape_[i].is_leaf() && !computed_by_backward) push(StepKind::forward, i, 0);
    }
    walk_.backward_begin = walk_.count;
    walk_.gradient_home[N - 1] = ValueId(N - 1);
    for (int i = N - 1; i >= 0; --i) {
      if (!tape_[i].is_leaf() && walk_.gradient_home[std::size_t(i)] != kNoValue) backward(i);
    }
    walk_.update_begin = walk_.count;
    return walk_;
  }

 private:
  constexpr void push(StepKind kind, int value, std::uint8_t accumulate) {
    walk_.steps[std::size_t(walk_.count++)] = {kind, ValueId(value), accumulate};
  }

  constexpr void make_available(int i) {
    if (available_[std::size_t(i)]) return;
    for (ValueId o : tape_[i].operands) {
      if (o != kNoValue) make_available(o);
    }
    push(StepKind::recompute, i, 0);
    available_[std::size_t(i)] = true;
  }

  constexpr void backward(int i) {
    const Value& v = tape_[i];
    for (int k = 0; k < kMaxOperands; ++k) {
      if (v.needs.has_operand(k)) make_available(v.operands[std::size_t(k)]);
    }
    const bool computes_itself = v.reverse == Reverse::loss;
    if ((v.needs.has_output() || v.saved_cols > 0) && !computes_itself) make_available(i);

    std::uint8_t accumulate = 0;
    for (int k = 0; k < kMaxOperands; ++k) {
      const ValueId o = v.operands[std::size_t(k)];
      if (o == kNoValue || !wanted_[std::size_t(o)]) continue;
      ValueId& home = walk_.gradient_home[std::size_t(o)];
      if (home != kNoValue) {
        accumulate = std::uint8_t(accumulate | 1u << k);
      } else {
        home = may_share(i, k) ? walk_.gradient_home[std::size_t(i)] : o;
      }
    }
    push(StepKind::backward, i, accumulate);
  }

  /// May the gradient of v's operand o live where v's own gradient is? Only if nothing is written there through one
  /// name before it has been read through another.
  constexpr bool may_share(int i, int k) const {
    const Value& v = tape_[i];
    const int o = v.operands[std::size_t(k)];
    if (tape_[o].is_leaf() || tape_[o].shape != v.shape || i == N - 1) return false;
    if (v.reverse == Reverse::in_place && k != 0) return false;
    if (v.reverse != Reverse::identity && v.reverse != Reverse::in_place) return false;
    for (int m = 0; m < i; ++m) {  // what else still waits in that storage to be read
      const bool waits = m != o && walk_.gradient_home[std::size_t(m)] == walk_.gradient_home[std::size_t(i)];
      if (!waits) continue;
      if (v.reverse == Reverse::in_place) return false;
      const int later = m > o ? m : o;
      const int earlier = m > o ? o : m;
      if (has_consumer_between(later, later, i) || has_consumer_between(earlier, later - 1, i)) return false;
    }
    return true;
  }

  /// Is there an op in (after, before) that takes value o as an operand?
  constexpr bool has_consumer_between(int o, int after, int before) const {
    for (int i = after + 1; i < before; ++i) {
      for (ValueId p : tape_[i].operands) {
        if (p == o) return true;
      }
    }
    return false;
  }

  const Tape<N>& tape_;
  std::array<bool, std::size_t(N)> wanted_;
  std::array<bool, std::size_t(N)> available_ = {};
  Walk<N> walk_;
};

}  // namespace detail

/// The walk with an update of every parameter that a gradient reaches, right after the last step that adds to its
/// gradient or reads its value: from there to the next pass nothing needs either.
template <int N>
constexpr Walk<N> with_updates(const Tape<N>& tape, const Walk<N>& walk) {
  std::array<int, std::size_t(N)> last = {};  // of the steps that take each parameter as an operand
  last.fill(-1);
  for (int s = 0; s < walk.count; ++s) {
    for (const ValueId o : tape[walk.steps[std::size_t(s)].value].operands) {
      if (o != kNoValue && tape[o].role == Role::parameter) last[std::size_t(o)] = s;
    }
  }
  Walk<N> w = walk;
  w.count = 0;
  w.update_begin = -1;
  for (int s = 0; s < walk.count; ++s) {
    w.steps[std::size_t(w.count++)] = walk.steps[std::size_t(s)];
    for (int i = 0; i < N; ++i) {
      if (last[std::size_t(i)] != s || walk.gradient_home[std::size_t(i)] == kNoValue) continue;
      if (w.update_begin < 0) w.update_begin = w.count;
      w.steps[std::size_t(w.count++)] = {StepKind::update, ValueId(i), 0};
    }
  }
  if (w.update_begin < 0) w.update_begin = w.count;
  return w;
}

/// The steps of a training pass: forward, then backward with what the schedule recomputes. A dropped value is
/// computed again when backward first needs it, and then stays until its last use.
template <int N>
constexpr Walk<N> training_walk(const Tape<N>& tape, const Recompute<N>& schedule) {
  return detail::ReverseWalker<N>(tape, schedule).run();
}

}  // namespace thimble
