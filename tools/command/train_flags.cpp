#include "tools/command/train_flags.hpp"

#include <algorithm>

namespace thimble {

namespace {

constexpr std::uint64_t kMostSteps = 1'000'000'000;
constexpr std::uint64_t kMostMicroBatches = 1'000'000;
/// Past this a float weight is soon infinite.
constexpr double kMostRate = 1e6;

const char* const kData = "Data";
const char* const kOptimizer = "Optimizer (without these, as the model says)";
const char* const kFiles = "Files";

void add_data_flags(CLI::App& c, DataChoice& d) {
  c.add_option("--text", d.text, "Train on a text; its distinct bytes are the tokens, or --tokenizer's")->group(kData);
  c.add_option("--tokenizer", d.tokenizer, kTokenizerHelp)->group(kData);
  auto* const documents =
      c.add_option("--documents", d.documents, "Train on documents, one a line, each framed by a BOS token")
          ->group(kData);
  c.add_flag("--in-order", d.in_order, "Documents in the file's order instead of a seeded one")
      ->group(kData)
      ->needs(documents);
  auto* const csv =
      c.add_option("--csv", d.csv, "Train on a column of numbers, cut into quantile bins")->group(kData);
  c.add_option("--column", d.column, "The column's name")->group(kData)->needs(csv);
  auto* const tokens =
      c.add_option("--tokens", d.tokens, "Train on token ids [step][row][T+1] (JSON), in order")->group(kData);
  auto* const held_out = c.add_option("--held-out", d.held_out, "Part of a text or column kept from training")
                             ->check(real_number(0, 0.9))
                             ->capture_default_str()
                             ->group(kData);
  tokens->excludes(held_out);
  tokens->excludes(c.get_option("--batch"));
  tokens->excludes(c.get_option("--context"));
}

void add_file_flags(CLI::App& c, TrainFlags& f) {
  c.add_option("--weights", f.weights,
               "Start from these weights, of any format that thimble reads; a resumed run has its own")
      ->group(kFiles);
  c.add_option("--save", f.save, "Write the weights here at the end, or when interrupted; the ending names the format")
      ->group(kFiles);
  auto* const checkpoint =
      c.add_option("--checkpoint", f.checkpoint,
                   "Keep the run's checkpoints in this folder: at the end, when interrupted, and as --every says")
          ->group(kFiles);
  c.add_option("--every", f.every, "Steps between checkpoints; 0: only at the end")
      ->check(whole_number(0, kMostSteps))
      ->capture_default_str()
      ->group(kFiles)
      ->needs(checkpoint);
  c.add_flag("--resume", f.resume, "Go on from the newest whole checkpoint, if there is one")
      ->group(kFiles)
      ->needs(checkpoint);
  c.add_option("--log", f.log, "Append a JSON line for every step and evaluation")->group(kFiles);
}

bool is_preset(const std::string& schedule) { return schedule == "gpt3" || schedule == "llama3-405b"; }

ScheduleKind schedule_kind(const std::string& text) {
  if (text == "constant") return ScheduleKind::constant;
  if (text == "linear") return ScheduleKind::linear;
  if (text == "wsd") return ScheduleKind::wsd;
  return ScheduleKind::cosine;
}

/// The named presets have their published shape, in proportion to the run's steps.
Schedule preset(const TrainFlags& f, double peak, std::int64_t steps, double tokens_per_step) {
  if (*f.schedule == "gpt3") return gpt3_schedule(double(steps) * tokens_per_step, tokens_per_step, peak);
  Schedule s = llama3_405b_schedule(steps);
  if (f.lr) {
    s.floor *= *f.lr / s.peak;
    s.peak = *f.lr;
  }
  return s;
}

}  // namespace

void add_optimizer_flags(CLI::App& c, TrainFlags& f) {
  c.add_option("--optimizer", f.optimizer, "adamw or sgd")->check(CLI::IsMember({"adamw", "sgd"}))->group(kOptimizer);
  c.add_option("--lr", f.lr, "Highest learning rate")->check(real_number(0, kMostRate))->group(kOptimizer);
  c.add_option("--min-lr", f.min_lr, "Lowest learning rate")->check(real_number(0, kMostRate))->group(kOptimizer);
  c.add_option("--warmup", f.warmup, "Steps of linear warm-up")
      ->check(whole_number(0, kMostSteps))
      ->group(kOptimizer);
  c.add_option("--schedule", f.schedule,
               "constant, linear, cosine, wsd; or the published shape of gpt3 (at the highest rate of --lr or the model) "
               "or llama3-405b (8e-5 unless --lr says otherwise), in proportion to the steps")
      ->check(CLI::IsMember({"constant", "linear", "cosine", "wsd", "gpt3", "llama3-405b"}))
      ->group(kOptimizer);
  c.add_option("--decay-steps", f.decay_steps, "wsd: steps of the final decay; default a fifth")
      ->check(whole_number(0, kMostSteps))
      ->group(kOptimizer);
  c.add_option("--weight-decay", f.weight_decay, "Of matrices; biases and norms never decay")
      ->check(real_number(0, 1e6))
      ->group(kOptimizer);
  c.add_option("--clip", f.clip, "Largest gradient norm; 0: no clipping")
      ->check(real_number(0, 1e30))
      ->group(kOptimizer);
  c.add_option("--betas", f.betas, "AdamW's two betas")->expected(2)->check(real_number(0, 1))->group(kOptimizer);
  c.add_option("--eps", f.eps, "AdamW's epsilon")->check(real_number(1e-15, 1))->group(kOptimizer);
  c.add_option("--momentum", f.momentum, "SGD's momentum")->check(real_number(0, 1))->group(kOptimizer);
}

TrainOptions train_options(const TrainFlags& f, const Model& model, std::int64_t steps, double tokens_per_step) {
  TrainOptions o = model.training;
  OptimizerOptions& opt = o.optimizer;
  if (f.optimizer) opt.kind = *f.optimizer == "sgd" ? OptimizerKind::sgd : OptimizerKind::adamw;
  if (f.betas.size() == 2) {
    opt.beta1 = f.betas[0];
    opt.beta2 = f.betas[1];
  }
  opt.epsilon = f.eps.value_or(opt.epsilon);
  opt.momentum = f.momentum.value_or(opt.momentum);
  opt.weight_decay = f.weight_decay.value_or(opt.weight_decay);
  opt.clip = f.clip.value_or(opt.clip);

  Schedule& s = o.schedule;
  const double floor_share = s.peak > 0 ? s.floor / s.peak : 0;
  s.peak = f.lr.value_or(s.peak);
  s.floor = f.min_lr.value_or(s.peak * floor_share);
  s.total_steps = steps;
  s.warmup_steps = f.warmup.value_or(std::min(s.warmup_steps, steps / 10));
  if (f.schedule && is_preset(*f.schedule)) {
    s = preset(f, s.peak, steps, tokens_per_step);
  } else if (f.schedule) {
    s.kind = schedule_kind(*f.schedule);
  }
  s.decay_steps = f.decay_steps.value_or(s.kind == ScheduleKind::wsd ? steps / 5 : 0);
  if (const char* fault = fault_of(o.schedule)) throw Error("schedule", fault, "see --lr, --min-lr, --warmup, --steps");
  if (const char* fault = fault_of(o.optimizer)) throw Error("optimizer", fault, "");
  return o;
}

void add_train_flags(CLI::App& c, TrainFlags& f) {
  c.add_option("model", f.model, "The model's name")->required();
  f.layout.add_to(c);
  f.layout.add_fuse_update_to(c);
  add_data_flags(c, f.data);
  c.add_option("--steps", f.steps, "Optimizer steps; 0: the model's default, or all of --tokens")
      ->check(whole_number(0, kMostSteps))
      ->capture_default_str();
  c.add_option("--accumulate", f.accumulate, "Micro-batches a step")
      ->check(whole_number(1, kMostMicroBatches))
      ->capture_default_str();
  c.add_option("--evaluate-every", f.evaluate_every, "Steps between evaluations; 0: a tenth of the run")
      ->check(whole_number(0, kMostSteps))
      ->capture_default_str();
  add_optimizer_flags(c, f);
  add_file_flags(c, f);
  f.common.add_to(c);
}

void require_consistent(const TrainFlags& f) {
  const auto refuse = [](bool bad, const char* flag, const char* why) {
    if (bad) throw Error(flag, why, "leave it out");
  };
  if (f.optimizer) {
    const bool sgd = *f.optimizer == "sgd";
    refuse(!sgd && f.momentum, "--momentum", "is SGD's; AdamW has --betas");
    refuse(sgd && !f.betas.empty(), "--betas", "are AdamW's; SGD has --momentum");
    refuse(sgd && f.eps, "--eps", "is AdamW's");
  } else {
    refuse(f.momentum.has_value(), "--momentum", "is SGD's: give --optimizer sgd as well");
  }
  if (f.schedule) {
    refuse(*f.schedule != "wsd" && f.decay_steps, "--decay-steps", "belongs to --schedule wsd");
    refuse(is_preset(*f.schedule) && f.min_lr, "--min-lr", "is given by the preset's shape");
    refuse(is_preset(*f.schedule) && f.warmup, "--warmup", "is given by the preset's shape");
  }
  refuse(f.accumulate > 1 && f.layout.fuse_update, "--fuse-update",
         "keeps no gradient that could add up over the micro-batches of --accumulate");
  // Nothing that is written may be something that is read, or written twice.
  const std::pair<const char*, const std::string*> files[] = {
      {"--save", &f.save},           {"--log", &f.log},         {"--text", &f.data.text},
      {"--documents", &f.data.documents}, {"--csv", &f.data.csv}, {"--tokens", &f.data.tokens}};
  for (int written = 0; written < 2; ++written) {
    for (int other = written + 1; other < int(std::size(files)); ++other) {
      const std::string &a = *files[written].second, &b = *files[other].second;
      std::error_code ignored;
      const bool same = !a.empty() && !b.empty() && (a == b || std::filesystem::equivalent(a, b, ignored));
      if (same) throw Error(files[written].first, a + " is also the file of " + files[other].first, "give another one");
    }
  }
}

}  // namespace thimble
