#include "tools/plan_view/plan_json.hpp"

#include "core/checkpoint/training.hpp"

namespace thimble {

namespace {

using Json = nlohmann::ordered_json;

const char* text_of(StepKind k) {
  switch (k) {
    case StepKind::forward: return "forward";
    case StepKind::recompute: return "recompute";
    case StepKind::backward: return "backward";
    case StepKind::decode: return "decode";
    case StepKind::update: return "update";
  }
  return "";
}

Json cost_json(const Cost& c) { return {{"flops", c.flops}, {"bytes", c.bytes}}; }

}  // namespace

std::string tensor_label(const Model& model, const Tensor& t) {
  if (t.value == kNoValue) return "partial sums of the gradient norm";
  const std::string name(model.tape[t.value].name.view());
  switch (t.kind) {
    case TensorKind::output: return name;
    case TensorKind::weight: return name;
    case TensorKind::gradient:
    case TensorKind::weight_gradient: return name + " gradient";
    case TensorKind::saved: return name + " statistics";
    case TensorKind::scratch: return "workspace of " + name;
    case TensorKind::first_moment: return name + " first moment";
    case TensorKind::second_moment: return name + " second moment";
    case TensorKind::ids: return name;
    case TensorKind::cache: return name + " cache";
  }
  return name;
}

std::int64_t checkpoint_bytes(const Model& model, const PlanData& plan) {
  const bool is_double = plan.options.real_bytes == 8;
  const std::uint64_t bytes =
      most_checkpoint_bytes(model.tape, is_double ? kNumberTypeOf<double> : kNumberTypeOf<float>, plan.options.moments,
                            plan.options.keeps_gradients());
  return std::int64_t(bytes);
}

Json plan_json(const Model& model, const PlanData& plan, bool tensors) {
  const PlanCosts costs = count_costs(model, plan);
  const std::int64_t n = model.parameter_count();
  const std::int64_t tokens = plan.options.extent.tokens();
  Json j{{"model", model.name},
         {"parameters", n},
         {"batch", plan.options.extent.batch},
         {"context", plan.options.extent.context},
         {"real_bytes", plan.options.real_bytes},
         {"arena_bytes", plan.bytes()},
         {"persistent",
          {{"weights", plan.weights_end},
           {"moments", plan.moments_end - plan.weights_end},
           {"gradients", plan.gradients_end - plan.moments_end},
           {"inputs", plan.persistent_end - plan.gradients_end}}},
         {"checkpoint_bytes", checkpoint_bytes(model, plan)},
         {"transient", plan.transient_bytes},
         {"transient_lower_bound", plan.transient_lower_bound},
         {"gap", plan.gap_bytes()},
         {"steps", plan.steps.size()},
         {"costs",
          {{"forward", cost_json(costs.forward)},
           {"backward", cost_json(costs.backward)},
           {"recompute", cost_json(costs.recompute)},
           {"flops_per_token", double(costs.total().flops) / double(tokens)},
           {"2N", 2 * n},
           {"4N", 4 * n},
           {"6N", 6 * n}}}};
  if (!tensors) return j;
  j["tensors"] = Json::array();
  for (const Tensor& t : plan.tensors) {
    j["tensors"].push_back({{"name", tensor_label(model, t)}, {"kind", thimble::text_of(t.kind)}, {"offset", t.offset},
                            {"bytes", t.bytes}, {"first_step", t.first}, {"last_step", t.last}});
  }
  j["program"] = Json::array();
  for (const Step& s : plan.steps) {
    const Value& v = model.tape[s.value];
    j["program"].push_back({{"kind", text_of(s.kind)}, {"value", v.name.view()}, {"op", op_name(v).view()}});
  }
  return j;
}

}  // namespace thimble
