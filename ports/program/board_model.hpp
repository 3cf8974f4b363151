#pragma once
/// A model of models/ as a board's program knows it.

#include "core/checkpoint/entry.hpp"
#include "models/gpt_message.hpp"
#include "ports/program/board_program.hpp"

namespace thimble {

/// `run.steps` 0: the steps of the model's schedule.
template <class Model>
constexpr BoardModel board_model(Name name, Profile profile, RunPlan run) {
  BoardModel m{name, profile, false, {}, Model::kTraining, run};
  if constexpr (requires { gpt_message(Model::kConfig); }) {  // other models have a configuration of their own, or none
    m.has_gpt = true;
    m.gpt = gpt_message(Model::kConfig);
  }
  if (m.run.steps == 0) m.run.steps = std::uint64_t(Model::kTraining.schedule.total_steps);
  return m;
}

}  // namespace thimble
