/// thimble board run: a training run on a board, with the progress of one on the host.

#include "tools/command/board_run.hpp"

#include <iostream>
#include <random>

#include "core/checkpoint/fault.hpp"
#include "core/checkpoint/training_state.hpp"
#include "ports/program/board_program.hpp"
#include "tools/board/host_twin.hpp"
#include "tools/command/board_flags.hpp"
#include "tools/command/board_record.hpp"
#include "tools/command/board_text.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/train_flags.hpp"
#include "tools/files/json_lines.hpp"
#include "tools/terminal/plot.hpp"
#include "tools/terminal/progress.hpp"

namespace thimble {

namespace {

constexpr std::chrono::milliseconds kListen{50};
constexpr double kFirstGuessSeconds = 0.01;  ///< of a step
constexpr std::chrono::seconds kPatience{2};  ///< until a silent board is spoken of
constexpr const char* kStopping = "\nthimble: stopping the board; once more to stop at once\n";

struct RunFlags {
  BoardFlags board;
  TrainFlags train;
  std::int64_t save_every = -1;  ///< -1: a tenth of the run
  bool fresh = false;
  bool from_host = false;
  bool verify = false;
  bool profile = false;
  int power_cuts = 0;
  std::optional<std::string> prompt;
  int length = 64;
  double temperature = 0.8;
};

/// Before the board trains for a prompt that it cannot read.
void require_prompt(const RunFlags& f, const std::optional<Symbols>& symbols) {
  if (!f.prompt) return;
  const Model& m = find_model(f.board.model);
  constexpr std::size_t kMost = sizeof(thimble_board_Sample{}.prompt.bytes);
  if (!generates(m.tape)) throw Error("--prompt", m.name + " does not end in logits: there is nothing to sample", "");
  if (f.from_host) {
    throw Error("--prompt", "with --from-host the board does not know the text's symbols", "leave one of them out");
  }
  if (f.prompt->size() > kMost) {
    throw Error("--prompt", "has " + std::to_string(f.prompt->size()) + " bytes", "at most " + std::to_string(kMost) +
                " go into a command: give a shorter one");
  }
  if (symbols) static_cast<void>(symbols->encode(*f.prompt, "--prompt"));
}

class BoardRun {
 public:
  explicit BoardRun(const RunFlags& flags)
      : flags_(flags), model_(find_model(flags.board.model)), link_(flags.board), steps_(choose_steps()),
        options_(train_options(flags.train, model_, steps_, double(model_.extent.tokens()))) {
    if (flags.power_cuts > 0 && (!link_.emulated() || !flags.board.flash)) {
      throw Error("--power-cuts", "need an emulated board with a flash", "give --flash FILE, and no --serial");
    }
    const bool needs_data = flags.verify || flags.from_host;
    if (needs_data && flags.board.text.empty() && flags.board.documents.empty() && !link_.emulated()) {
      throw Error(flags.verify ? "--verify" : "--from-host", "needs the text that the board trains on",
                  "give --text or --documents");
    }
    if (flags.from_host) data_ = open();
    if (flags.verify) {
      SessionOptions o = session_options(flags.train.common, model_.extent);
      o.profile = link_.board().profile;
      o.moments = options_.optimizer.moments();
      twin_.emplace(model_, o, open(), options_, flags.train.accumulate, flags.train.common.seed);
    }
    if (!flags.train.log.empty()) log_.emplace(flags.train.log);
  }

  int run() {
    interrupted_ = &catch_interrupts(kStopping);
    Progress progress(steps_, json() ? Progress::Style::quiet : Progress::Style::automatic);
    progress_ = &progress;
    for (int cut = 0; cut < flags_.power_cuts; ++cut) {
      open_line();
      begin();
      follow(random_instant(flags_.power_cuts - cut));
      if (finished() || *interrupted_) break;
      link_.cut_power();
      ++cuts_;
    }
    if (cuts_ == flags_.power_cuts) {  // it is not at work, or its power is off
      open_line();
      begin();
      follow({});
    }
    if (!finished()) stop();
    stopped_ = !finished();
    progress.finish();
    report();
    const int status = link_.close();
    if (status != 0) throw Error(link_.board().name, "the emulator ended with status " + std::to_string(status), "");
    if (stopped_) return kInterruptedStatus;
    return state_.activity == thimble_board_Activity_ACTIVITY_FINISHED ? 0 : 1;
  }

 private:
  bool json() const { return flags_.train.common.json; }
  bool finished() const {
    return state_.activity == thimble_board_Activity_ACTIVITY_FINISHED ||
           state_.activity == thimble_board_Activity_ACTIVITY_DIVERGED ||
           state_.activity == thimble_board_Activity_ACTIVITY_FAILED;
  }

  std::int64_t choose_steps() const {
    return flags_.train.steps > 0 ? flags_.train.steps : model_.training.schedule.total_steps;
  }

  std::string text_file() const {
    if (link_.emulated()) return link_.image().text.string();
    return flags_.board.text.empty() ? flags_.board.documents : flags_.board.text;
  }

  std::unique_ptr<DataSource> open() const {
    return open_board_text(flags_.board, text_file(), flags_.train.common.seed);
  }

  void open_line() {
    link_.open();
    BoardClient& c = link_.client();
    c.on_state = [this](const BoardClient::State& s) { state_ = s; };
    c.on_text = [this](std::string_view text) { progress_->note("board: " + std::string(text)); };
    c.on_silence = [this](std::chrono::milliseconds time) {
      if (*interrupted_ && !begun_) throw CLI::RuntimeError(kInterruptedStatus);
      if (time < kPatience || begun_ || waiting_told_) return;
      waiting_told_ = true;
      progress_->note("waiting for " + (link_.emulated() ? link_.board().name : flags_.board.serial));
    };
  }

  /// Between two steps, with what is done so far in flash where there is one.
  void stop() {
    BoardClient& c = link_.client();
    state_ = c.require(thimble_board_Command_stop_tag, "stop").what.state;
    if (finished() || save_every() == 0) return;
    const BoardClient::Reply saved = c.command(thimble_board_Command_save_tag, "save");
    if (saved.result == thimble_board_Result_RESULT_FAULT) {
      progress_->note("the checkpoint could not be kept: " + text_of(saved));
    }
  }

  /// The text in the board's flash is at fault, and no checkpoint.
  bool text_at_fault() const { return std::string_view(state_.fault.field).starts_with("the text"); }

  [[noreturn]] void throw_fault() const {
    const std::string field = state_.fault.field;
    if (text_at_fault()) {
      throw Error("board", field + " for " + model_.name, "the board needs an image with another text (--text, --documents)");
    }
    if (field == kAnotherText) {
      throw Error("board", "the run in its flash was on another text", "give it that text, or --fresh, which forgets the run");
    }
    throw Error("board", "its checkpoint: " + field + " " + text_of(FaultKind(state_.fault.kind)), "--fresh begins anew");
  }

  /// Configures the run, unless the board is at it already.
  void begin() {
    BoardClient& c = link_.client();
    // It may be at a run already: at this one, of which each step counts, or at one of its own.
    std::vector<BoardClient::Step> early;
    c.on_step = [&early](const BoardClient::Step& step) { early.push_back(step); };
    state_ = c.ask();
    begun_ = true;
    if (std::string(state_.model) != model_.name) {
      throw Error("board", std::string("it runs ") + state_.model + ", not " + model_.name, "");
    }
    const bool same_length = state_.seed == flags_.train.common.seed && state_.steps == std::uint64_t(steps_);
    const bool same = same_length && state_.run_hash == run_hash(training());
    const bool begun = state_.step > 0 && state_.saves > 0;
    if (begun && !same && !flags_.fresh) {
      throw Error("board", "it has a run of seed " + std::to_string(state_.seed) + " at step " +
                               std::to_string(state_.step) + " of " + std::to_string(state_.steps) +
                               (same_length ? ", with another optimizer, schedule, --accumulate or --from-host" : ""),
                  "give it the same options, or --fresh, which forgets it");
    }
    const bool failed = state_.activity == thimble_board_Activity_ACTIVITY_FAILED;
    const bool needs_no_text = flags_.from_host && !begun && text_at_fault();
    if (failed && !flags_.fresh && !needs_no_text) throw_fault();
    const bool resumed = begun && same && (!flags_.fresh || cuts_ > 0);
    if (!resumed) configure();
    require_same_text();
    c.on_step = [this](const BoardClient::Step& step) { take(step); };
    if (resumed) {
      for (const BoardClient::Step& step : early) take(step);
    }
    if (resumed && cuts_ == 0) progress_->note("the board goes on from step " + std::to_string(state_.step));
    if (!finished() && state_.activity == thimble_board_Activity_ACTIVITY_STOPPED) {
      state_ = c.require(thimble_board_Command_start_tag, "start").what.state;
    }
  }

  /// What the board trains on must be what this host reads: a file may have changed since the image was built.
  void require_same_text() const {
    if (cuts_ > 0 || flags_.from_host || state_.data_hash == 0 || !has_text()) return;
    if (open()->fingerprint() == state_.data_hash) return;
    throw Error(link_.board().name, "trains on another text than " + text_file(), "build its image with this file");
  }

  thimble_board_Configure training() const {
    return training_of(options_, std::int32_t(flags_.train.accumulate), flags_.from_host);
  }

  void configure() {
    BoardClient& c = link_.client();
    BoardClient::Command command = thimble_board_Command_init_zero;
    command.which_action = thimble_board_Command_configure_tag;
    thimble_board_Configure& to = command.action.configure;
    to = training();
    to.seed = flags_.train.common.seed;
    to.steps = std::uint64_t(steps_);
    to.save_every = save_every();
    state_ = c.require(command, "configure").what.state;
    if (state_.has_fault && state_.fault.kind != 0) throw_fault();
  }

  std::uint32_t save_every() const {
    if (flags_.save_every >= 0) return std::uint32_t(flags_.save_every);
    return std::uint32_t(std::max<std::int64_t>(1, steps_ / 10));
  }

  /// Until the run ends, or that instant.
  void follow(std::optional<std::chrono::steady_clock::time_point> until) {
    const auto begin = std::chrono::steady_clock::now();
    auto last = begin;
    while (!finished() && !*interrupted_ && (!until || std::chrono::steady_clock::now() < *until)) {
      if (state_.activity == thimble_board_Activity_ACTIVITY_WAITING) {
        give_window();
        continue;
      }
      const auto now = std::chrono::steady_clock::now();
      const bool heard = link_.client().listen(kListen);
      if (heard) last = now;
      if (!heard && now - last > std::chrono::seconds(2)) {
        state_ = link_.client().ask();
        last = now;
      }
    }
    training_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void give_window() {
    const TokenBatch b = data_->batch(state_.data_cursor);
    BoardClient::Command c = thimble_board_Command_init_zero;
    c.which_action = thimble_board_Command_window_tag;
    c.action.window.index = state_.data_cursor;
    auto& to = c.action.window.ids;
    const auto put = [&](std::int32_t id) {
      if (to.size + 2u > sizeof(to.bytes)) throw Error("--from-host", "the model's windows are longer than a frame", "");
      to.bytes[to.size++] = pb_byte_t(id);
      to.bytes[to.size++] = pb_byte_t(id >> 8);
    };
    put(b.tokens.at(0));
    for (const std::int32_t id : b.targets) put(id);
    state_ = link_.client().require(c, "a window").what.state;
  }

  /// So that about that many cuts fall into the rest of the run.
  std::chrono::steady_clock::time_point random_instant(int cuts_left) {
    const double step_seconds = trained_ > 0 ? training_seconds_ / double(trained_) : kFirstGuessSeconds;
    const double mean = step_seconds * double(steps_ - std::int64_t(state_.step)) / (cuts_left + 1);
    std::uniform_real_distribution<double> seconds(0, 2 * mean);
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds(random_)));
  }

  void take(const BoardClient::Step& s) {
    if (s.status != 0) {
      progress_->note("step " + std::to_string(s.step) + ": " + text_of(Status(s.status)) + "; the step is left out" +
                      (s.non_finite[0] ? std::string("; the first value that is not finite is ") + s.non_finite : ""));
    }
    if (s.has_save_fault) progress_->note(std::string("the checkpoint could not be kept: ") + s.save_fault.field);
    if (twin_ && twin_->digest_after(s.step) != s.digest) {
      throw Error(link_.board().name, "after step " + std::to_string(s.step) + " the digest is " + digest_text(s.digest) +
                                          ", on the host " + digest_text(twin_->digest_after(s.step)), "");
    }
    verified_ += twin_.has_value();
    ++trained_;
    record_.add(s);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    progress_->update(std::int64_t(s.step), s.loss, double(s.tokens) / seconds);
    if (log_) log_->write(step_json(s));
  }

  bool has_text() const { return link_.emulated() || !flags_.board.text.empty() || !flags_.board.documents.empty(); }

  Json profile() {
    Json ops = Json::array();
    std::map<std::string, Flops> sums;
    for (std::uint32_t i = 0;; ++i) {
      BoardClient::Command c = thimble_board_Command_init_zero;
      c.which_action = thimble_board_Command_profile_tag;
      c.action.profile.index = i;
      const thimble_board_OpTicks t = link_.client().command(c, "a question for its profile").what.op_ticks;
      if (i >= t.count || t.steps == 0) return ops;
      if (i == 0 && has_text()) {
        const std::uint64_t end = state_.data_cursor, batches = t.steps * std::uint64_t(flags_.train.accumulate);
        const std::string recompute = board_schedule(model_, flags_.board.recompute);
        sums = op_multiply_adds(model_, recompute, *open(), end - std::min(end, batches), end);
      }
      Json op{{"op", t.op}, {"forward", t.forward / t.steps}, {"backward", t.backward / t.steps}};
      if (const auto of = sums.find(t.op); of != sums.end()) {
        op["forward_multiply_adds"] = std::uint64_t(of->second.forward) / t.steps;
        op["backward_multiply_adds"] = std::uint64_t(of->second.backward) / t.steps;
      }
      ops.push_back(op);
    }
  }

  std::string sample() {
    BoardClient::Command c = thimble_board_Command_init_zero;
    c.which_action = thimble_board_Command_sample_tag;
    thimble_board_Sample& to = c.action.sample;
    to.prompt.size = pb_size_t(flags_.prompt->size());
    std::copy_n(flags_.prompt->begin(), to.prompt.size, to.prompt.bytes);
    to.length = std::uint32_t(flags_.length);
    to.temperature = flags_.temperature;
    to.seed = flags_.train.common.seed;
    const auto reply = link_.client().require(c, "sample");
    return *flags_.prompt + std::string(reinterpret_cast<const char*>(reply.what.sampled.bytes), reply.what.sampled.size);
  }

  void report() {
    state_ = link_.client().ask();
    Json j{{"board", link_.board().name}, {"model", model_.name}, {"activity", text_of(state_.activity)},
           {"interrupted", stopped_}, {"steps", state_.step}, {"digest", digest_text(state_.digest)},
           {"ticks_per_step", record_.median_ticks()},
           {"ticks_are", state_.tick_unit == thimble_board_TickUnit_TICK_UNIT_INSTRUCTIONS ? "instructions" :
                         state_.tick_unit == thimble_board_TickUnit_TICK_UNIT_CYCLES ? "cycles" : "microseconds"},
           {"arena_bytes", state_.arena_bytes}, {"stack_high_water", state_.stack_high_water},
           {"stack_bytes", state_.stack_bytes}, {"saves", state_.saves}, {"power_cuts", cuts_},
           {"damaged_frames", state_.damaged_frames}};
    if (twin_) j["steps_verified"] = verified_;
    if (state_.has_fault && state_.fault.kind != 0) j["fault"] = state_.fault.field;
    if (flags_.profile) j["ops"] = profile();
    if (!json()) print(j);
    std::exception_ptr unsampled;  // told after the report
    if (flags_.prompt && !stopped_) {
      try {
        j["sample"] = sample();
        if (!json()) std::cout << j["sample"].get<std::string>() << "\n";
      } catch (const Error&) {
        unsampled = std::current_exception();
      }
    }
    if (record_.size() > 0) j["first_step"] = record_.first_step();
    j["losses"] = record_.losses();
    if (json()) print_json(j);
    if (unsampled) std::rethrow_exception(unsampled);
  }

  void print(const Json& j) {
    if (record_.size() > 1) {
      std::cout << plot_curve(record_.losses(),
                              {.title = "loss on " + link_.board().name, .first_x = double(record_.first_step())})
                << "\n";
    }
    std::cout << text_of(state_.activity) << " after " << state_.step << " steps; ";
    if (record_.size() > 0) std::cout << record_.median_ticks() << " " << j["ticks_are"].get<std::string>() << " a step; ";
    std::cout << "arena " << state_.arena_bytes << " bytes, stack " << state_.stack_high_water
              << " of " << state_.stack_bytes << "; " << state_.saves << " checkpoints\n";
    if (cuts_ > 0) std::cout << cuts_ << " power cuts\n";
    std::cout << "digest of the weights " << digest_text(state_.digest);
    if (twin_) std::cout << ", equal to the host's after each of " << verified_ << " steps";
    std::cout << "\n";
    if (flags_.profile) print_profile(j["ops"], record_.median_ticks());
  }

  const RunFlags& flags_;
  const Model& model_;
  BoardLink link_;
  std::int64_t steps_;
  TrainOptions options_;
  std::unique_ptr<DataSource> data_;
  std::optional<HostTwin> twin_;
  std::optional<JsonLinesWriter> log_;
  Progress* progress_ = nullptr;
  BoardClient::State state_ = thimble_board_State_init_zero;
  const std::atomic<bool>* interrupted_ = nullptr;
  bool stopped_ = false;       ///< interrupted before the run's end
  bool begun_ = false;         ///< the board has answered
  bool waiting_told_ = false;
  BoardRecord record_;
  std::uint64_t verified_ = 0;
  std::uint64_t trained_ = 0;  ///< steps reported, those after a power cut again
  double training_seconds_ = 0;
  int cuts_ = 0;
  std::mt19937 random_{std::random_device()()};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

void add_board_run_command(CLI::App& board) {
  const auto f = std::make_shared<RunFlags>();
  CLI::App* const c = board.add_subcommand("run", "Train on a board");
  f->board.add_names_to(*c);
  f->board.add_image_to(*c);
  f->board.add_line_to(*c);
  c->add_option("--steps", f->train.steps, "Optimizer steps; 0: the model's default")
      ->check(whole_number(0, 1'000'000'000));
  c->add_option("--accumulate", f->train.accumulate, "Micro-batches a step")->check(whole_number(1, 65535));
  add_optimizer_flags(*c, f->train);
  c->add_option("--save-every", f->save_every, "Steps between checkpoints in flash; 0: none; default: a tenth of the run")
      ->check(whole_number(0, 1'000'000'000));
  c->add_flag("--fresh", f->fresh, "Begin anew, whatever the board's flash holds");
  c->add_flag("--from-host", f->from_host, "The host sends every window over the line");
  c->add_flag("--verify", f->verify, "Train on the host beside it, and compare the digest of every step");
  c->add_flag("--profile", f->profile, "Show the ticks of every op");
  c->add_option("--power-cuts", f->power_cuts, "Kill the emulator so often, at random moments, and go on from its flash")
      ->check(whole_number(0, 100'000));
  c->add_option("--prompt", f->prompt, "At the end, let the board write on from this text");
  c->add_option("--length", f->length, "Symbols that it writes")->check(whole_number(1, 192))->capture_default_str();
  c->add_option("--temperature", f->temperature, "0: always the most likely")
      ->check(real_number(0, 1e6))
      ->capture_default_str();
  c->add_option("--log", f->train.log, "Append a JSON line for every step")->check(file_name());
  f->train.common.add_without_arithmetic_to(*c);
  c->callback([f] {
    f->train.model = f->board.model;
    f->board.json = f->train.common.json;
    if (f->from_host) require_one_row(find_model(f->board.model));
    const double clip = f->train.clip.value_or(find_model(f->board.model).training.optimizer.clip);
    f->board.fuse_update = f->train.accumulate == 1 && clip == 0;
    require_prompt(*f, board_symbols(f->board));
    const int status = BoardRun(*f).run();
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace thimble
