#include "tools/plan_view/costs.hpp"

namespace thimble {

namespace {

std::int64_t bytes_touched(const PlanData& plan, const StepTensors& t) {
  std::int64_t bytes = 0;
  const auto count = [&](int tensor) {
    if (tensor >= 0) bytes += plan.tensors[std::size_t(tensor)].bytes;
  };
  count(t.out);
  count(t.saved);
  count(t.d_out);
  for (int k = 0; k < kMaxOperands; ++k) {
    count(t.operand[std::size_t(k)]);
    if (t.d_operand[std::size_t(k)] != t.d_out) count(t.d_operand[std::size_t(k)]);
  }
  return bytes;
}

}  // namespace

PlanCosts count_costs(const Model& model, const PlanData& plan) {
  PlanCosts costs;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.kind == StepKind::update) continue;
    const Flops f = op_flops(model.tape[step.value], plan.options.extent);
    const bool backward = step.kind == StepKind::backward;
    Cost& c = backward ? costs.backward : step.kind == StepKind::recompute ? costs.recompute : costs.forward;
    c.flops += backward ? f.backward : f.forward;
    c.bytes += bytes_touched(plan, plan.step_tensors[s]);
  }
  return costs;
}

}  // namespace thimble
