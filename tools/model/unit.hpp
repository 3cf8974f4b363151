#pragma once
/// What the generated unit of one model needs: all that depends on its type but not on an instruction set.

#include <algorithm>

#include "tools/files/error.hpp"
#include "tools/model/kernel_unit.hpp"

namespace thimble {

template <class M>
Recompute<tape_of<M>.size> recompute_for(const std::string& text) {
  const auto& tape = tape_of<M>;
  return schedule_of(tape, text, [&](std::string_view pattern) {
    std::vector<std::string> names;
    for (const Value& v : tape.values) {
      if (!v.is_leaf()) names.emplace_back(v.name.view());
    }
    const std::string near = did_you_mean(std::string(pattern), names);
    throw Error("--recompute", "no activation is called " + in_quotes(std::string(pattern)),
                (near.empty() ? "" : near + " ") +
                    std::string("the list names the values to keep (thimble plan MODEL --tensors shows them; * stands "
                                "for any characters)"));
  });
}

template <class M>
PlanData plan_model(ProgramKind program, const std::string& recompute, const PlanOptions& options) {
  const auto& tape = tape_of<M>;
  const auto walk = program == ProgramKind::train ? training_walk(tape, recompute_for<M>(recompute), options)
                    : forward_walk(tape, program == ProgramKind::decode ? StepKind::decode : StepKind::forward);
  const auto plan = std::make_unique<Plan<tape_of<M>.size>>(make_plan(tape, walk, options, op_scratch_bytes));
  return plan_data(*plan, options);
}

template <class M, class real>
std::unique_ptr<PreparedModel<real>> prepare_model(const std::string& recompute, const PlanOptions& options,
                                                   const KernelTable<real>& kernels) {
  constexpr int n = tape_of<M>.size;
  const auto& tape = tape_of<M>;
  const auto plans = std::make_unique<PlanSet<n>>(make_plan_set(tape, recompute_for<M>(recompute), options));
  std::array<OpKernels<real>, std::size_t(n)> ops;
  std::copy_n(kernels.ops, n, ops.begin());

  auto p = std::make_unique<PreparedModel<real>>();
  p->train_plan = plan_data(plans->train, options);
  p->evaluate_plan = plan_data(plans->evaluate, options);
  p->decode_plan = plan_data(plans->decode, options);
  const auto program = [&](const Plan<n>& plan, std::vector<ProgramStep<real>>& steps) {
    steps.resize(std::size_t(plan.walk.count));
    make_program(tape, plan, ops, steps.data());
    return view_program<real>(plan, steps.data());
  };
  p->layout = make_layout<real>(tape, *plans, options);
  p->layout.train = program(plans->train, p->train);
  p->layout.evaluate = program(plans->evaluate, p->evaluate);
  p->layout.decode = program(plans->decode, p->decode);
  p->parameters.resize(std::size_t(n));
  p->parameters.resize(std::size_t(make_parameter_slots(tape, plans->train, p->parameters.data())));
  p->inputs.resize(std::size_t(n));
  p->inputs.resize(std::size_t(make_input_slots(tape, plans->train, p->inputs.data())));
  p->layout.parameters = p->parameters;
  p->layout.inputs = p->inputs;
  p->layout.update = kernels.update;
  return p;
}

/// The description of model M, whose kernel tables are given.
template <class M>
Model describe_model(const char* name, const KernelSets<float>& f32, const KernelSets<double>& f64) {
  Model m;
  m.name = name;
  m.description = M::kDescription;
  m.extent = M::kExtent;
  m.training = M::kTraining;
  if constexpr (requires { M::kRecompute; }) m.recompute = M::kRecompute;
  if constexpr (requires { M::kBoardRecompute; }) m.board_recompute = M::kBoardRecompute;
  if constexpr (requires { M::kConfig; }) {
    if constexpr (std::is_same_v<std::remove_cv_t<decltype(M::kConfig)>, GptConfig>) m.gpt = M::kConfig;
  }
  m.tape = tape_of<M>;
  m.f32 = f32;
  m.f64 = f64;
  m.prepare_f32 = prepare_model<M, float>;
  m.prepare_f64 = prepare_model<M, double>;
  m.plan = plan_model<M>;
  return m;
}

}  // namespace thimble
