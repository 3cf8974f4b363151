#include "tools/command/train_resume.hpp"

#include <sstream>

#include "tools/files/error.hpp"

namespace thimble {

namespace {

const char* text_of(OptimizerKind kind) { return kind == OptimizerKind::sgd ? "sgd" : "adamw"; }

const char* text_of(ScheduleKind kind) {
  constexpr const char* kNames[] = {"constant", "linear", "cosine", "wsd"};
  return kNames[int(kind)];
}

}  // namespace

void require_same_run(const TrainingState& asked, const TrainingState& found, const std::string& file) {
  const auto require = [&](const char* flag, auto now, auto then) {
    if (now == then) return;
    std::ostringstream text;
    text << "the run was begun with " << then << ", and is asked to go on with " << now;
    throw Error(std::string(flag) + " and " + file, text.str(), "give the flags of the first start");
  };
  const OptimizerOptions &a = asked.options.optimizer, &f = found.options.optimizer;
  require("--seed", asked.seed, found.seed);
  require("--accumulate", asked.accumulate, found.accumulate);
  require("--optimizer", std::string(text_of(a.kind)), std::string(text_of(f.kind)));
  require("--betas", a.beta1, f.beta1);
  require("--betas", a.beta2, f.beta2);
  require("--eps", a.epsilon, f.epsilon);
  require("--weight-decay", a.weight_decay, f.weight_decay);
  require("--momentum", a.momentum, f.momentum);
  require("--clip", a.clip, f.clip);
  const Schedule &s = asked.options.schedule, &t = found.options.schedule;
  require("--schedule", std::string(text_of(s.kind)), std::string(text_of(t.kind)));
  // First the steps: the rest of a schedule may follow from them.
  if (s.kind != ScheduleKind::constant) require("--steps", s.total_steps, t.total_steps);
  require("--lr", s.peak, t.peak);
  require("--warmup", s.warmup_steps, t.warmup_steps);
  if (s.kind != ScheduleKind::constant) {
    require("--min-lr", s.floor, t.floor);
    require("--decay-steps", s.decay_steps, t.decay_steps);
  }
  if (asked.data_hash != found.data_hash) {
    throw Error(file, "the run was begun with other data, another batch or another context",
                "give the data and --batch, --context, --held-out of the first start");
  }
}

}  // namespace thimble
