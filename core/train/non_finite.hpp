#pragma once
/// Where a pass first met a number that is not finite.

#include "core/train/engine.hpp"

namespace thimble {

/// After so many steps in a row that were left out, a run ends: it has diverged.
inline constexpr int kMostRejectedInARow = 5;

/// Remembers the first value of a forward pass that is not finite.
template <class real>
class NonFiniteFinder {
 public:
  explicit NonFiniteFinder(TapeView tape) : tape_(tape) {}

  StepObserver<real> observer() { return {this, nullptr, look}; }
  /// kNoValue: all were finite.
  ValueId found() const { return found_; }

 private:
  static void look(void* self, const ProgramStep<real>& step, const Call<real>& call) {
    NonFiniteFinder& f = *static_cast<NonFiniteFinder*>(self);
    if (f.found_ != kNoValue || step.kind != StepKind::forward) return;
    for (std::int64_t i = 0; i < call.rows * f.tape_[step.value].shape.cols; ++i) {
      if (call.out[i] - call.out[i] == 0) continue;
      f.found_ = step.value;
      return;
    }
  }

  TapeView tape_;
  ValueId found_ = kNoValue;
};

/// Runs the forward pass of a batch again and returns its first value that is not finite; kNoValue where all are. The
/// engine's observer is `restored` afterwards.
template <class real>
Status first_non_finite_value(Engine<real>& engine, std::span<const std::int32_t> tokens,
                              std::span<const std::int32_t> targets, const Extent& extent, ValueId& value,
                              const StepObserver<real>* restored = nullptr) {
  NonFiniteFinder<real> finder(engine.layout().tape);
  const StepObserver<real> observer = finder.observer();
  engine.set_observer(&observer);
  double sum = 0;
  std::int64_t valid = 0;
  const Status status = engine.evaluate(tokens, targets, extent, sum, valid);
  engine.set_observer(restored);
  value = finder.found();
  return status;
}

}  // namespace thimble
