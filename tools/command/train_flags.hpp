#pragma once
/// The flags of thimble train, and the options they make.

#include "tools/command/common.hpp"
#include "tools/train/data_source.hpp"

namespace thimble {

/// What is not given on the command line comes from the model.
struct TrainFlags {
  CommonFlags common;
  LayoutFlags layout;
  DataChoice data;
  std::string model;
  std::string weights;
  std::string save;
  std::string log;
  std::string checkpoint;
  std::int64_t every = 0;
  bool resume = false;
  std::int64_t steps = 0;
  int accumulate = 1;
  std::int64_t evaluate_every = 0;
  std::optional<std::string> optimizer, schedule;
  std::optional<double> lr, min_lr, weight_decay, clip, eps, momentum;
  std::optional<std::int64_t> warmup, decay_steps;
  std::vector<double> betas;
};

/// Adds all flags to the subcommand.
void add_train_flags(CLI::App& command, TrainFlags& flags);

/// The flags of optimizer and schedule alone.
void add_optimizer_flags(CLI::App& command, TrainFlags& flags);

/// An Error for flags that contradict each other, or would have no effect.
void require_consistent(const TrainFlags& flags);

/// Optimizer and schedule of a run of so many steps.
TrainOptions train_options(const TrainFlags& flags, const Model& model, std::int64_t steps, double tokens_per_step);

}  // namespace thimble
