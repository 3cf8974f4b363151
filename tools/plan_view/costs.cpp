#include "tools/plan_view/costs.hpp"

namespace thimble {

PlanCosts count_costs(const Model& model, const PlanData& plan) {
  PlanCosts costs;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.kind == StepKind::update) continue;
    const Flops f = op_flops(model.tape[step.value], plan.options.extent);
    const bool backward = step.kind == StepKind::backward;
    Cost& c = backward ? costs.backward : step.kind == StepKind::recompute ? costs.recompute : costs.forward;
    c.flops += backward ? f.backward : f.forward;
    c.bytes += bytes_touched(plan.tensors, plan.step_tensors[s]);
  }
  return costs;
}

}  // namespace thimble
