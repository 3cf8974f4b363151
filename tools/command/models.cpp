/// thimble models: what this program carries.

#include <iostream>

#include "tools/command/common.hpp"
#include "tools/terminal/table.hpp"

namespace thimble {

namespace {

/// Of a training session with the model's own schedule, batch and context on one thread.
std::int64_t arena_bytes(const Model& m, const CommonFlags& flags) {
  const PlanOptions options{m.extent, 1, flags.real_bytes(), m.training.optimizer.moments(), true};
  return m.plan(ProgramKind::train, m.recompute, options).bytes();
}

Json describe(const Model& m, const CommonFlags& flags) {
  Json j{{"name", m.name}, {"description", m.description}, {"parameters", m.parameter_count()},
         {"vocabulary", m.vocabulary()}, {"batch", m.extent.batch}, {"context", m.extent.context},
         {"arena_bytes", arena_bytes(m, flags)}};
  if (m.gpt) {
    j["width"] = m.gpt->width;
    j["heads"] = m.gpt->heads;
    j["layers"] = m.gpt->layers;
    j["context_limit"] = m.gpt->context;
  }
  return j;
}

}  // namespace

void add_models_command(CLI::App& app) {
  const auto flags = std::make_shared<CommonFlags>();
  CLI::App* const command = app.add_subcommand("models", "List the models");
  flags->add_to(*command);
  command->callback([flags] {
    if (flags->json) {
      Json list = Json::array();
      for (const Model& m : all_models()) list.push_back(describe(m, *flags));
      return print_json({{"models", list}});
    }
    Table table({"model", "parameters", "batch", "context", "arena", "what it is"});
    for (const Model& m : all_models()) {
      table.add_row({m.name, grouped(m.parameter_count()), std::to_string(m.extent.batch),
                     std::to_string(m.extent.context),
                     human_bytes(arena_bytes(m, *flags)), m.description});
    }
    std::cout << table.text();
  });
}

}  // namespace thimble
