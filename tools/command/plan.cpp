/// thimble plan: the arena of a model, before anything runs.

#include <iomanip>
#include <iostream>

#include "tools/command/common.hpp"
#include "tools/files/text_file.hpp"
#include "tools/plan_view/plan_json.hpp"
#include "tools/terminal/format.hpp"
#include "tools/terminal/table.hpp"

namespace thimble {

namespace {

struct PlanFlags {
  CommonFlags common;
  LayoutFlags layout;
  std::string model;
  std::string svg;
  std::string optimizer = "adamw";
  std::string program = "train";
  bool tensors = false;
};

std::string figure(double x, int digits = 2) {
  std::ostringstream s;
  s << std::fixed << std::setprecision(digits) << x;
  return s.str();
}

ProgramKind program_kind(const std::string& text) {
  if (text == "evaluate") return ProgramKind::evaluate;
  if (text == "decode") return ProgramKind::decode;
  return ProgramKind::train;
}

/// The arena under each schedule, side by side.
void print_regions(const Model& model, const std::vector<std::pair<std::string, PlanData>>& plans) {
  std::vector<std::string> header = {"bytes"};
  for (const auto& [name, plan] : plans) header.push_back("recompute " + name);
  Table table(header);
  const auto row = [&](const char* name, auto value) {
    std::vector<std::string> cells = {name};
    for (const auto& [schedule, plan] : plans) cells.push_back(grouped(value(plan)));
    table.add_row(cells);
  };
  row("weights", [](const PlanData& p) { return p.weights_end; });
  row("optimizer moments", [](const PlanData& p) { return p.moments_end - p.weights_end; });
  row("weight gradients", [](const PlanData& p) { return p.gradients_end - p.moments_end; });
  row("token ids, inputs", [](const PlanData& p) { return p.persistent_end - p.gradients_end; });
  row("transient", [](const PlanData& p) { return p.transient_bytes; });
  row("  lower bound", [](const PlanData& p) { return p.transient_lower_bound; });
  row("  gap", [](const PlanData& p) { return p.gap_bytes(); });
  row("arena", [](const PlanData& p) { return p.bytes(); });
  row("checkpoint, at most, without notes", [&](const PlanData& p) { return checkpoint_bytes(model, p); });
  std::cout << table.text() << "\n";

  Table costs({"a step", "forward", "backward", "recompute", "total", "per token"});
  for (const auto& [name, plan] : plans) {
    const PlanCosts c = count_costs(model, plan);
    const double tokens = double(plan.options.extent.tokens());
    costs.add_row({"recompute " + name + ", MFLOP", figure(double(c.forward.flops) / 1e6),
                   figure(double(c.backward.flops) / 1e6), figure(double(c.recompute.flops) / 1e6),
                   figure(double(c.total().flops) / 1e6), figure(double(c.total().flops) / tokens / 1e6, 4)});
    costs.add_row({"recompute " + name + ", MB moved", figure(double(c.forward.bytes) / 1e6),
                   figure(double(c.backward.bytes) / 1e6), figure(double(c.recompute.bytes) / 1e6),
                   figure(double(c.total().bytes) / 1e6), figure(double(c.total().bytes) / tokens / 1e6, 4)});
  }
  const double n = double(model.parameter_count());
  costs.add_row({"rule of thumb 2N 4N 6N, MFLOP", figure(2 * n / 1e6, 4), figure(4 * n / 1e6, 4), "", "",
                 figure(6 * n / 1e6, 4)});
  std::cout << costs.text();
}

void print_tensors(const Model& model, const PlanData& plan) {
  Table table({"offset", "bytes", "steps", "kind", "tensor"});
  for (const Tensor& t : plan.tensors) {
    table.add_row({grouped(t.offset), grouped(t.bytes), std::to_string(t.first) + "-" + std::to_string(t.last),
                   text_of(t.kind), tensor_label(model, t)});
  }
  std::cout << "\n" << table.text();
}

void run(const PlanFlags& flags) {
  if (flags.svg == "-" && flags.common.json) {
    throw Error("--svg", "- and --json both want standard output", "give --svg a file name");
  }
  const Model& model = find_model(flags.model);
  const Extent extent = model.takes_tokens() ? flags.layout.extent_for(model) : Extent{};
  OptimizerOptions optimizer = model.training.optimizer;
  optimizer.kind = flags.optimizer == "sgd" ? OptimizerKind::sgd : OptimizerKind::adamw;
  const ProgramKind program = program_kind(flags.program);
  const bool training = program == ProgramKind::train;
  const PlanOptions options{extent, flags.common.thread_count(), flags.common.real_bytes(),
                            flags.optimizer == "none" ? 0 : optimizer.moments(), training,
                            flags.layout.fuse_update};
  const std::string recompute = flags.layout.recompute_for(model);
  const PlanData chosen = model.plan(program, recompute, options);
  if (flags.svg == "-") {
    std::cout << plan_svg(model, chosen);
    return;
  }
  if (!flags.svg.empty()) write_file(flags.svg, plan_svg(model, chosen));

  std::vector<std::pair<std::string, PlanData>> plans = {{recompute, chosen}};
  for (const std::string other : {"none", "blocks"}) {
    if (training && other != recompute) {
      plans.emplace_back(other, model.plan(program, other, options));
    }
  }
  if (flags.layout.fuse_update && !training) {
    throw Error("--fuse-update", "updates are a part of the training pass", "leave it out");
  }
  if (flags.common.json) {
    Json j = plan_json(model, chosen, true);
    j["recompute"] = recompute;
    for (const auto& [name, plan] : plans) j["schedules"][name] = plan_json(model, plan, false);
    return print_json(j);
  }
  std::cout << model.name << ", " << grouped(model.parameter_count()) << " parameters, " << flags.common.real << ", "
            << extent.batch << " x " << extent.context << " tokens, " << options.workers << " workers\n\n";
  print_regions(model, plans);
  if (flags.tensors) print_tensors(model, chosen);
  if (!flags.svg.empty()) std::cout << "\npicture written to " << flags.svg << "\n";
}

}  // namespace

void add_plan_command(CLI::App& app) {
  const auto flags = std::make_shared<PlanFlags>();
  CLI::App* const c = app.add_subcommand("plan", "Show a model's arena: what lies where, for how long, at what cost");
  c->add_option("model", flags->model, "The model's name")->required();
  c->add_option("--svg", flags->svg, "Draw the arena: time across, address up; - is standard output");
  c->add_flag("--tensors", flags->tensors, "List every tensor");
  c->add_option("--optimizer", flags->optimizer, "adamw, sgd or none")
      ->check(CLI::IsMember({"adamw", "sgd", "none"}))
      ->capture_default_str();
  c->add_option("--program", flags->program, "train, evaluate or decode")
      ->check(CLI::IsMember({"train", "evaluate", "decode"}))
      ->capture_default_str();
  flags->layout.add_to(*c);
  flags->layout.add_fuse_update_to(*c);
  flags->common.add_to(*c);
  c->callback([flags] { run(*flags); });
}

}  // namespace thimble
