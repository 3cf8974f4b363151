#pragma once
/// What a training step costs on the board, by op: ticks of the clock beside multiply-adds (half the floating-point
/// operations that core/ops counts).

#include "core/ops/list.hpp"
#include "ports/api/port.hpp"
#include "ports/program/op_profile.hpp"

namespace thimble {

class StepCosts {
 public:
  StepCosts(Engine<float>& engine, const Port& port) : engine_(engine), port_(port) { engine.set_observer(&observer_); }
  ~StepCosts() { engine_.set_observer(nullptr); }
  StepCosts(const StepCosts&) = delete;

  const OpProfile& profile() const { return profile_; }
  /// Of one op in the pass that was watched.
  Flops flops(std::uint32_t op) const {
    Flops sum;
    for (int s = 0; s < engine_.layout().train.count; ++s) {
      const ProgramStep<float>& step = engine_.layout().train.steps[s];
      const Value& v = engine_.layout().tape[step.value];
      if (v.op != op) continue;
      const Flops f = op_flops(v, extent_);
      (step.kind == StepKind::forward ? sum.forward : sum.backward) +=
          step.kind == StepKind::backward ? f.backward : f.forward;
    }
    return sum;
  }

 private:
  static void before(void* self, const ProgramStep<float>&, const Call<float>& call) {
    StepCosts& c = *static_cast<StepCosts*>(self);
    c.extent_ = call.extent;
    c.began_ = c.port_.ticks(c.port_.state);
  }
  static void after(void* self, const ProgramStep<float>& step, const Call<float>&) {
    StepCosts& c = *static_cast<StepCosts*>(self);
    c.profile_.add(c.engine_.layout().tape[step.value], step.kind, c.port_.ticks(c.port_.state) - c.began_);
  }

  Engine<float>& engine_;
  const Port& port_;
  OpProfile profile_;
  Extent extent_;
  std::uint64_t began_ = 0;
  StepObserver<float> observer_{this, before, after};
};

}  // namespace thimble
