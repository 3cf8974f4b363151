/// thimble train: a model, a text, and the progress of the one learning the other.

#include <cmath>
#include <iomanip>
#include <iostream>

#include "tools/checkpoint/checkpoint_folder.hpp"
#include "tools/checkpoint/fault_error.hpp"
#include "tools/checkpoint/session_checkpoint.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/train_flags.hpp"
#include "tools/command/train_resume.hpp"
#include "tools/exchange/formats.hpp"
#include "tools/files/atomic_file.hpp"
#include "tools/files/json_lines.hpp"
#include "tools/model/weights.hpp"
#include "tools/terminal/plot.hpp"
#include "tools/terminal/progress.hpp"
#include "tools/train/train_run.hpp"

namespace thimble {

namespace {

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

template <class real>
class TrainCommand {
 public:
  explicit TrainCommand(const TrainFlags& flags)
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
    if (!flags.checkpoint.empty()) open_folder();
    if (!flags.weights.empty() && !resumed_at_) load_weights(session_, *open_weights(flags.weights));
    check_writable(flags.save);
    if (!flags.log.empty()) log_.emplace(flags.log);
  }

  int run() {
    const auto& interrupted = catch_interrupts("\nthimble: stopping, then saving; once more to stop at once\n");
    Progress progress(plan_.steps, flags_.common.json ? Progress::Style::quiet : Progress::Style::automatic);
    TrainHooks hooks;
    hooks.micro_batch = [&](const TrainPosition& p) {
      const std::uint64_t every = std::uint64_t(flags_.every) * std::uint64_t(flags_.accumulate);
      if (folder_ && every > 0 && p.data_cursor % every == 0) save_position();
    };
    hooks.step = [&](const StepRecord& r) {
      progress.update(r.step, r.result.loss, double(r.tokens) / r.seconds);
      if (r.result.status != Status::ok) {
        progress.note("step " + std::to_string(r.step) + ": " + text_of(r.result.status) + "; the step is left out");
      }
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
      save_after_error();
      throw;
    }
    progress.finish();
    save_all();
    if (summary.last_status != Status::ok) {
      throw Error("training", std::string("the last step was left out: ") + text_of(summary.last_status),
                  "the weights are those of the last good step; try a lower --lr, or --clip 1");
    }
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
    o.recompute = flags_.layout.recompute_for(model_);
    o.moments = plan_.options.optimizer.moments();
    o.fuse_update = flags_.layout.fuse_update;
    if (o.fuse_update && !allows_fused_update(plan_.options.optimizer)) {
      throw Error("--fuse-update", "clipping needs the norm of all gradients before the first weight is updated",
                  "give --clip 0, or leave it out");
    }
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
    newest_ = file;
    position_ = {loaded.data_cursor, std::int64_t(loaded.tokens), loaded.running_loss};
    saved_cursor_ = position_.data_cursor;
    resumed_at_ = std::int64_t(position_.data_cursor) / flags_.accumulate;
    if (flags_.common.json) return;
    std::cout << "resumed from " << file.string() << " after " << *resumed_at_ << " steps"
              << (*resumed_at_ >= steps_ ? ": the run is at its end\n" : "\n");
  }

  void save_position() {
    if (position_.data_cursor == saved_cursor_) return;
    require_finite_weights();
    state_.data_cursor = position_.data_cursor;
    state_.tokens = std::uint64_t(position_.tokens);
    state_.running_loss = position_.running_loss;
    newest_ = folder_->next();
    save_checkpoint(session_, state_, data_->metadata(), newest_);
    folder_->remove_old();
    saved_cursor_ = position_.data_cursor;
  }

  static std::string number(double x) {
    std::ostringstream s;
    s << std::fixed << std::setprecision(4) << x;
    return s.str();
  }

  /// Everything that the user asked for, unless a weight is not finite: then an earlier file is worth more.
  void save_all() {
    require_finite_weights();
    try {
      if (folder_) save_position();
    } catch (const Error&) {
      save();
      throw;
    }
    save();
  }

  void require_finite_weights() const {
    if (session_.engine().torn()) throw Error("training", "the last update was cut short", "nothing was saved");
    for (const ParameterSlots& p : session_.prepared().parameters) {
      if (!first_non_finite(std::span<const real>(session_.engine().weight(p)))) continue;
      throw Error("training", "the weight " + std::string(session_.name_of(p)) + " is not finite any more",
                  "nothing was saved; try a lower --lr, or --clip 1");
    }
  }

  /// The same after an error, which is the one to be told.
  void save_after_error() {
    try {
      save_all();
    } catch (const Error& e) {
      std::cerr << "thimble: " << e.what() << "\n";
    }
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
    for (const auto& [name, value] : data_->facts()) {
      j[name] = value;
      if (value == std::floor(value)) j[name] = std::int64_t(value);
    }
    if (!flags_.save.empty()) j["saved"] = flags_.save;
    if (folder_) j["checkpoint"] = newest_.string();
    if (resumed_at_) j["resumed_at_step"] = *resumed_at_;
    j["losses"] = s.losses;
    j["gradient_norms"] = s.gradient_norms;
    j["learning_rates"] = s.learning_rates;
    return j;
  }

  void print(const TrainSummary& s, const Json& result) const {
    if (s.steps > 0) std::cout << plot_curve(s.losses, {.title = "loss"}) << "\n";
    std::cout << (s.interrupted ? "interrupted after " : "trained ") << s.steps << " steps, " << s.tokens
              << " tokens in " << number(s.seconds) << " s";
    if (s.seconds > 0) std::cout << " (" << std::int64_t(double(s.tokens) / s.seconds) << " tokens/s)";
    std::cout << ", arena " << session_.prepared().layout.arena_bytes << " bytes\n";
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
    if (folder_) std::cout << "checkpoint " << newest_.string() << "\n";
  }

  const TrainFlags& flags_;
  const Model& model_;
  std::unique_ptr<DataSource> data_;
  std::int64_t steps_;
  TrainPlan plan_;
  Session<real> session_;
  std::optional<JsonLinesWriter> log_;
  std::optional<CheckpointFolder> folder_;
  std::filesystem::path newest_;  ///< checkpoint of this run, loaded or saved
  TrainingState state_;
  TrainPosition position_;
  std::optional<std::int64_t> resumed_at_;
  std::uint64_t saved_cursor_ = ~std::uint64_t(0);
};

}  // namespace

void add_train_command(CLI::App& app) {
  const auto flags = std::make_shared<TrainFlags>();
  CLI::App* const c = app.add_subcommand("train", "Train a model");
  add_train_flags(*c, *flags);
  c->callback([flags] {
    require_consistent(*flags);
    flags->data.weights = flags->weights;
    const int status = with_real(flags->common, [&]<class real>() { return TrainCommand<real>(*flags).run(); });
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace thimble
