/// thimble train: a model, a text, and the progress of the one learning the other.

#include <cmath>
#include <csignal>
#include <iomanip>
#include <iostream>

#include "tools/checkpoint/checkpoint_folder.hpp"
#include "tools/checkpoint/fault_error.hpp"
#include "tools/checkpoint/session_checkpoint.hpp"
#include "tools/command/common.hpp"
#include "tools/exchange/formats.hpp"
#include "tools/files/atomic_file.hpp"
#include "tools/files/json_lines.hpp"
#include "tools/model/weights.hpp"
#include "tools/terminal/plot.hpp"
#include "tools/terminal/progress.hpp"
#include "tools/train/train_run.hpp"

namespace thimble {

namespace {

/// What is not given on the command line comes from the model.
struct Flags {
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

std::atomic<bool> interrupted{false};

/// The first Ctrl-C or SIGTERM ends the run after the current micro-batch; a second one ends the program.
void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

constexpr int kInterruptedStatus = 130;

ScheduleKind schedule_kind(const std::string& text) {
  if (text == "constant") return ScheduleKind::constant;
  if (text == "linear") return ScheduleKind::linear;
  if (text == "wsd") return ScheduleKind::wsd;
  return ScheduleKind::cosine;
}

/// The named presets have their published shape, in proportion to the run's steps and at the run's peak rate.
Schedule preset(const std::string& name, const Schedule& s, std::int64_t steps, double tokens_per_step) {
  if (name == "gpt3") return gpt3_schedule(double(steps) * tokens_per_step, tokens_per_step, s.peak);
  return llama3_405b_schedule(steps);
}

TrainOptions train_options(const Flags& f, const Model& model, std::int64_t steps, double tokens_per_step) {
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
  if (f.schedule && (*f.schedule == "gpt3" || *f.schedule == "llama3-405b")) {
    s = preset(*f.schedule, s, steps, tokens_per_step);
  } else if (f.schedule) {
    s.kind = schedule_kind(*f.schedule);
  }
  s.decay_steps = f.decay_steps.value_or(s.kind == ScheduleKind::wsd ? steps / 5 : 0);
  if (const char* fault = fault_of(o.schedule)) throw Error("schedule", fault, "see --lr, --min-lr, --warmup, --steps");
  if (const char* fault = fault_of(o.optimizer)) throw Error("optimizer", fault, "");
  return o;
}

/// Fails now rather than after the training.
void check_writable(const std::string& path) {
  if (path.empty()) return;
  format_of(path);
  AtomicFile probe(path);
}

std::optional<double> bits_per_byte(const EvaluationRecord& e, const DataSource& data) {
  const auto rate = data.tokens_per_byte();
  return rate ? std::optional(e.loss * *rate / std::log(2.0)) : std::nullopt;
}

Json evaluation_json(const EvaluationRecord& e, const DataSource& data) {
  Json j{{"step", e.step}, {"held_out_loss", e.loss}, {"held_out_tokens", e.tokens}};
  if (const auto bits = bits_per_byte(e, data)) j["bits_per_byte"] = *bits;
  return j;
}

/// A resumed run must be the one that was begun: every difference would show in the bits.
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
  require("--optimizer", int(a.kind), int(f.kind));
  require("--betas", a.beta1, f.beta1);
  require("--betas", a.beta2, f.beta2);
  require("--eps", a.epsilon, f.epsilon);
  require("--weight-decay", a.weight_decay, f.weight_decay);
  require("--momentum", a.momentum, f.momentum);
  require("--clip", a.clip, f.clip);
  const Schedule &s = asked.options.schedule, &t = found.options.schedule;
  require("--schedule", int(s.kind), int(t.kind));
  require("--lr", s.peak, t.peak);
  require("--warmup", s.warmup_steps, t.warmup_steps);
  if (s.kind != ScheduleKind::constant) {
    require("--min-lr", s.floor, t.floor);
    require("--steps", s.total_steps, t.total_steps);
    require("--decay-steps", s.decay_steps, t.decay_steps);
  }
  if (asked.data_hash != found.data_hash) {
    throw Error(file, "the run was begun with other data, another batch or another context",
                "give the data and --batch, --context, --held-out of the first start");
  }
}

template <class real>
class TrainCommand {
 public:
  explicit TrainCommand(const Flags& flags)
      : flags_(flags),
        model_(find_model(flags.model)),
        data_(open_data(flags.data, model_, flags.layout.extent_for(model_), flags.common.seed)),
        steps_(choose_steps()),
        plan_{steps_, flags.accumulate,
              train_options(flags, model_, steps_, double(data_->extent().tokens()) * flags.accumulate),
              flags.evaluate_every > 0 ? flags.evaluate_every : std::max<std::int64_t>(1, steps_ / 10)},
        session_(model_, options()) {
    session_.engine().initialise(flags.common.seed);
    state_ = first_state(session_, options().profile, plan_.options, flags.common.seed);
    state_.accumulate = flags.accumulate;
    state_.data_hash = data_->fingerprint();
    if (!flags.weights.empty()) load_weights(session_, *open_weights(flags.weights));
    if (!flags.checkpoint.empty()) open_folder();
    check_writable(flags.save);
    if (!flags.log.empty()) log_.emplace(flags.log);
  }

  int run() {
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    Progress progress(plan_.steps, flags_.common.json ? Progress::Style::quiet : Progress::Style::automatic);
    TrainHooks hooks;
    hooks.micro_batch = [&](const TrainPosition& p) {
      const std::uint64_t every = std::uint64_t(flags_.every) * std::uint64_t(flags_.accumulate);
      if (folder_ && every > 0 && p.data_cursor % every == 0) save_position();
    };
    hooks.step = [&](const StepRecord& r) {
      progress.update(r.step + 1, r.result.loss, double(r.tokens) / r.seconds);
      if (log_) log_->write(step_json(r));
    };
    hooks.evaluation = [&](const EvaluationRecord& e) {
      const Json j = evaluation_json(e, *data_);
      const auto bits = bits_per_byte(e, *data_);
      progress.note("step " + std::to_string(e.step) + ": held-out loss " + number(e.loss) +
                    (bits ? ", " + number(*bits) + " bits per byte" : ""));
      if (log_) log_->write(j);
    };
    TrainSummary summary;
    try {
      summary = train(session_, *data_, plan_, position_, hooks, interrupted);
    } catch (const Error&) {
      save();
      throw;
    }
    progress.finish();
    if (folder_) save_position();
    save();
    const Json result = result_json(summary);
    if (log_) log_->write(result);
    if (flags_.common.json) {
      print_json(result);
    } else {
      print(summary, result);
    }
    return summary.interrupted ? kInterruptedStatus : 0;
  }

 private:
  std::int64_t choose_steps() const {
    const auto batches = data_->batch_count();
    std::int64_t steps = flags_.steps;
    if (steps == 0) steps = batches ? std::int64_t(*batches) / flags_.accumulate : model_.training.schedule.total_steps;
    if (batches && steps * flags_.accumulate > std::int64_t(*batches)) {
      throw Error("--steps", std::to_string(steps) + " steps of " + std::to_string(flags_.accumulate) +
                                 " are more than the " + std::to_string(*batches) + " in " + flags_.data.tokens, "");
    }
    if (steps < 1) throw Error("--steps", "nothing to train: no step", "");
    return steps;
  }

  SessionOptions options() const {
    SessionOptions o = session_options(flags_.common, data_->extent());
    o.recompute = recompute_choice(flags_.layout.recompute);
    o.moments = plan_.options.optimizer.moments();
    return o;
  }

  /// The folder of the run's checkpoints; with --resume, the newest whole one is loaded.
  void open_folder() {
    folder_.emplace(flags_.checkpoint);
    const auto files = folder_->files();
    if (files.empty()) return;
    if (!flags_.resume) {
      throw Error("--checkpoint", flags_.checkpoint + " holds the checkpoints of an earlier run",
                  "go on with it by --resume, or give another folder");
    }
    for (const auto& file : files) {
      try {
        resume_from(file);
        return;
      } catch (const DamagedCheckpoint& e) {
        std::cerr << "thimble: " << e.what() << "\n";
      }
    }
    throw Error(flags_.checkpoint, "no checkpoint in it is whole", "the messages above name what is wrong with each");
  }

  void resume_from(const std::filesystem::path& file) {
    TrainingState loaded = state_;
    load_checkpoint(session_, loaded, file);
    require_same_run(state_, loaded, file.string());
    state_ = loaded;
    position_ = {loaded.data_cursor, std::int64_t(loaded.tokens), loaded.running_loss};
    resumed_at_ = loaded.engine.step;
    if (flags_.common.json) return;
    std::cout << "resumed from " << file.string() << " after " << *resumed_at_ << " steps\n";
  }

  void save_position() {
    if (position_.data_cursor == saved_cursor_) return;
    state_.data_cursor = position_.data_cursor;
    state_.tokens = std::uint64_t(position_.tokens);
    state_.running_loss = position_.running_loss;
    save_checkpoint(session_, state_, data_->metadata(), folder_->next());
    folder_->remove_old();
    saved_cursor_ = position_.data_cursor;
  }

  static std::string number(double x) {
    std::ostringstream s;
    s << std::fixed << std::setprecision(4) << x;
    return s.str();
  }

  void save() const {
    if (!flags_.save.empty()) format_of(flags_.save).write(flags_.save, SessionWeights<real>(session_, data_->metadata()));
  }

  static Json step_json(const StepRecord& r) {
    Json j{{"step", r.step}, {"loss", r.result.loss}, {"learning_rate", r.result.learning_rate},
           {"gradient_norm", r.result.gradient_norm}, {"clipped", r.result.clipped}, {"tokens", r.tokens},
           {"seconds", r.seconds}};
    if (r.result.status != Status::ok) j["rejected"] = text_of(r.result.status);
    return j;
  }

  Json result_json(const TrainSummary& s) const {
    Json j{{"model", model_.name}, {"parameters", model_.parameter_count()}, {"real", flags_.common.real},
           {"kernels", session_.kernels_name()}, {"threads", session_.threads()}, {"seed", flags_.common.seed},
           {"steps", s.steps}, {"tokens", s.tokens}, {"seconds", s.seconds}, {"rejected", s.rejected},
           {"interrupted", s.interrupted}, {"arena_bytes", session_.prepared().layout.arena_bytes},
           {"digest", digest_text(session_.engine().digest())}};
    if (s.held_out) j.update(evaluation_json(*s.held_out, *data_));
    j.erase("step");
    for (const auto& [name, value] : data_->facts()) j[name] = value;
    if (!flags_.save.empty()) j["saved"] = flags_.save;
    if (folder_) j["checkpoint"] = folder_->files().front().string();
    if (resumed_at_) j["resumed_at_step"] = *resumed_at_;
    j["losses"] = s.losses;
    j["gradient_norms"] = s.gradient_norms;
    j["learning_rates"] = s.learning_rates;
    return j;
  }

  void print(const TrainSummary& s, const Json& result) const {
    std::cout << plot_curve(s.losses, {.title = "loss"}) << "\n";
    std::cout << (s.interrupted ? "interrupted after " : "trained ") << s.steps << " steps, " << s.tokens
              << " tokens in " << number(s.seconds) << " s (" << std::int64_t(double(s.tokens) / s.seconds)
              << " tokens/s), arena " << session_.prepared().layout.arena_bytes << " bytes\n";
    if (s.held_out) {
      std::cout << "held-out loss " << number(s.held_out->loss) << " nats a token";
      if (const auto bits = bits_per_byte(*s.held_out, *data_)) std::cout << " (" << number(*bits) << " bits per byte)";
      if (result.contains("unigram_entropy")) {
        std::cout << "; unigram entropy of the text " << number(result["unigram_entropy"].template get<double>());
      }
      std::cout << "\n";
    }
    std::cout << "digest of the weights " << result["digest"].template get<std::string>() << "\n";
    if (!flags_.save.empty()) std::cout << "weights saved to " << flags_.save << "\n";
    if (folder_) std::cout << "checkpoint " << folder_->files().front().string() << "\n";
  }

  const Flags& flags_;
  const Model& model_;
  std::unique_ptr<DataSource> data_;
  std::int64_t steps_;
  TrainPlan plan_;
  Session<real> session_;
  std::optional<JsonLinesWriter> log_;
  std::optional<CheckpointFolder> folder_;
  TrainingState state_;
  TrainPosition position_;
  std::optional<std::int64_t> resumed_at_;
  std::uint64_t saved_cursor_ = ~std::uint64_t(0);
};

}  // namespace

void add_train_command(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  Flags& f = *flags;
  CLI::App* const c = app.add_subcommand("train", "Train a model");
  c->add_option("model", f.model, "The model's name")->required();

  c->add_option("--text", f.data.text, "Train on a text; its distinct bytes are the tokens, or --tokenizer's")->group("Data");
  c->add_option("--tokenizer", f.data.tokenizer, kTokenizerHelp)->group("Data");
  c->add_option("--documents", f.data.documents, "Train on documents, one a line, each framed by a BOS token")
      ->group("Data");
  c->add_flag("--in-order", f.data.in_order, "Documents in the file's order instead of a seeded one")->group("Data");
  c->add_option("--csv", f.data.csv, "Train on a column of numbers, cut into quantile bins")->group("Data");
  c->add_option("--column", f.data.column, "The column's name")->group("Data");
  c->add_option("--tokens", f.data.tokens, "Train on token ids [step][row][T+1] (JSON), in order")->group("Data");
  c->add_option("--held-out", f.data.held_out, "Part of a text or column kept from training")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str()
      ->group("Data");

  c->add_option("--steps", f.steps, "Optimizer steps; 0: the model's default, or all of --tokens")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c->add_option("--accumulate", f.accumulate, "Micro-batches a step")->check(CLI::PositiveNumber)->capture_default_str();
  c->add_option("--evaluate-every", f.evaluate_every, "Steps between evaluations; 0: a tenth of the run")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();

  const char* const kOptimizer = "Optimizer (without these, as the model says)";
  c->add_option("--optimizer", f.optimizer, "adamw or sgd")->check(CLI::IsMember({"adamw", "sgd"}))->group(kOptimizer);
  c->add_option("--lr", f.lr, "Highest learning rate")->group(kOptimizer);
  c->add_option("--min-lr", f.min_lr, "Lowest learning rate")->group(kOptimizer);
  c->add_option("--warmup", f.warmup, "Steps of linear warm-up")->group(kOptimizer);
  c->add_option("--schedule", f.schedule, "constant, linear, cosine, wsd, or the shape of gpt3 or llama3-405b")
      ->check(CLI::IsMember({"constant", "linear", "cosine", "wsd", "gpt3", "llama3-405b"}))
      ->group(kOptimizer);
  c->add_option("--decay-steps", f.decay_steps, "wsd: steps of the final decay; default a fifth")->group(kOptimizer);
  c->add_option("--weight-decay", f.weight_decay, "Of matrices; biases and norms never decay")->group(kOptimizer);
  c->add_option("--clip", f.clip, "Largest gradient norm; 0: no clipping")->group(kOptimizer);
  c->add_option("--betas", f.betas, "AdamW's two betas")->expected(2)->group(kOptimizer);
  c->add_option("--eps", f.eps, "AdamW's epsilon")->group(kOptimizer);
  c->add_option("--momentum", f.momentum, "SGD's momentum")->group(kOptimizer);

  const char* const kFiles = "Files";
  c->add_option("--weights", f.weights, "Start from these weights, of any format that thimble reads")->group(kFiles);
  c->add_option("--save", f.save, "Write the weights here at the end, or when interrupted; the ending names the format")->group(kFiles);
  c->add_option("--checkpoint", f.checkpoint,
                "Keep the run's checkpoints in this folder: at the end, when interrupted, and as --every says")
      ->group(kFiles);
  c->add_option("--every", f.every, "Steps between checkpoints; 0: only at the end")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(kFiles);
  c->add_flag("--resume", f.resume, "Go on from the newest whole checkpoint, if there is one")->group(kFiles);
  c->add_option("--log", f.log, "Append a JSON line for every step and evaluation")->group(kFiles);
  f.layout.add_to(*c);
  f.common.add_to(*c);
  c->callback([flags] {
    if (flags->checkpoint.empty() && (flags->resume || flags->every > 0)) {
      throw Error(flags->resume ? "--resume" : "--every", "needs the folder of the checkpoints", "add --checkpoint DIR");
    }
    flags->data.weights = flags->weights;
    const int status = with_real(flags->common, [&]<class real>() { return TrainCommand<real>(*flags).run(); });
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace thimble
