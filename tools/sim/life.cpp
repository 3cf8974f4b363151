#include "tools/sim/life.hpp"

#include <cmath>

#include "core/base/philox.hpp"
#include "models/gpt_message.hpp"
#include "tools/board/board_client.hpp"
#include "tools/files/error.hpp"
#include "tools/sim/sim_channel.hpp"

namespace thimble {

namespace {

constexpr std::uint64_t kPowerStream = 0x21, kMemoryStream = 0x22, kBlockStream = 0x23;
constexpr int kMostResets = 200;
constexpr std::chrono::milliseconds kListen{50};

/// Text for the host's windows, and everything that outlives a reset.
class Life {
 public:
  Life(Session<float>& session, std::span<const std::byte> text, TextKind kind, const LifeOptions& options,
       std::uint64_t seed)
      : session_(session),
        engine_(session.engine()),
        options_(options),
        seed_(seed),
        host_text_(text, kind),
        board_text_(text, kind),
        ids_(std::size_t(2 * engine_.layout().limit.tokens())),
        host_ids_(ids_.size()),
        board_(options.flash, options.faults.line, seed),
        channel_(board_) {
    if (draw(kBlockStream) < options.faults.broken_blocks) {
      const auto block = std::uint32_t(draw(kBlockStream) * options.flash.block_count);
      board_.flash().break_block(block);
      has_broken_block_ = true;
    }
    if (options.data_from_host) {
      const Extent& limit = engine_.layout().limit;
      constexpr std::size_t kMost = sizeof(thimble_board_Window::ids.bytes);
      if (limit.batch > 1) throw Error(session.model().name, "a window on the line is one row", "");
      if (2 * std::size_t(limit.context + 1) > kMost) {
        throw Error(session.model().name, "its windows are longer than a frame", "");
      }
      host_text_.prepare(engine_.layout().vocabulary, limit);
    }
    const Model& m = session.model();
    model_.name = Name(m.name.c_str());
    model_.profile = options.profile;
    model_.training = m.training;
    model_.has_gpt = m.gpt.has_value();
    if (m.gpt) model_.gpt = gpt_message(*m.gpt);
    model_.run = {options.steps, options.save_every, 1, options.data_from_host};
  }

  LifeResult live(std::optional<std::uint64_t> expected) {
    LifeResult r;
    try {
      while (!run_until_cut(r)) {
        if (++r.resets > kMostResets) {
          r.outcome = Outcome::worn_down;
          r.reason = "the run came to no end in " + std::to_string(kMostResets) + " resets";
          break;
        }
      }
    } catch (const Error& e) {
      r.outcome = options_.faults.noisy() ? Outcome::unreachable : Outcome::wrong;
      r.reason = e.what();
    }
    if (r.outcome == Outcome::finished && expected && r.digest != *expected) {
      r.outcome = Outcome::wrong;
      r.reason = "the run ended with other weights than one without faults";
    }
    if (board_.flash().violations() > 0) {
      r.outcome = Outcome::wrong;
      r.reason = "the flash was not used as its contract says";
    }
    r.damaged_bytes = board_.to_board().damaged() + board_.to_host().damaged();
    r.violations = std::uint64_t(board_.flash().violations());
    for (const std::int64_t n : board_.flash().erases()) r.most_erases = std::max(r.most_erases, n);
    r.seconds = double(board_.now()) / double(SimBoard::kTicksPerSecond);
    return r;
  }

 private:
  double draw(std::uint64_t stream) { return uniform(seed_, draws_++, stream); }

  /// From power-on to the end of the run (true) or to a power cut.
  bool run_until_cut(LifeResult& r) {
    board_.power_on();
    scramble_memory();
    plan_power_cut();
    const StepObserver<float> clock{this, nullptr, pass_time};
    BoardProgram program(engine_, model_, board_text_, ids_, board_.port(), &clock);
    channel_.run(&program);
    BoardClient client(channel_, std::uint32_t(draw(kPowerStream) * 4e9));
    bool ended = false;
    try {
      program.start();
      ended = see_through(client, program, r);
    } catch (const PowerCut&) {
    }
    r.repeated += client.repeated();
    channel_.run(nullptr);
    engine_.set_observer(nullptr);
    return ended;
  }

  /// The host's part: configures the run unless the board is at it already, feeds it, and waits for its end.
  bool see_through(BoardClient& client, BoardProgram& program, LifeResult& r) {
    using Activity = thimble_board_Activity;
    bool ours = false;  // or is the board at a run of its own?
    client.on_step = [&](const BoardClient::Step& s) {
      const bool saves = s.step % options_.save_every == 0 || s.step == options_.steps;
      if (ours && saves && !s.has_save_fault) kept_step_ = s.step;
    };
    BoardClient::State state = client.ask();
    ours = state.seed == kRunSeed && state.steps == options_.steps &&
           state.activity != Activity::thimble_board_Activity_ACTIVITY_FAILED;
    if (kept_step_ > 0 && (!ours || state.step < kept_step_)) {
      r.outcome = Outcome::wrong;
      r.reason = "after a reset the board stands at step " + std::to_string(ours ? state.step : 0) +
                 ", but it had kept the checkpoint of step " + std::to_string(kept_step_);
      return true;
    }
    if (!ours) {
      configure(client);
      state = client.ask();
      ours = true;
    }
    for (;;) {
      if (state.activity == Activity::thimble_board_Activity_ACTIVITY_STOPPED) {
        const BoardClient::Reply started = client.command(thimble_board_Command_start_tag, "start");
        if (started.result != thimble_board_Result_RESULT_DONE) {
          const bool kept_nothing = started.result == thimble_board_Result_RESULT_FAULT && has_broken_block_;
          r.outcome = kept_nothing ? Outcome::flash_failed : Outcome::wrong;
          r.reason = text_of(started);
          return true;
        }
      }
      if (state.activity == Activity::thimble_board_Activity_ACTIVITY_FINISHED) {
        r.outcome = Outcome::finished;
        r.digest = state.digest;
        return true;
      }
      if (state.activity == Activity::thimble_board_Activity_ACTIVITY_FAILED) {
        r.outcome = Outcome::wrong;
        r.reason = std::string("the board failed: ") + program.fault().field;
        return true;
      }
      if (state.activity == Activity::thimble_board_Activity_ACTIVITY_WAITING) {
        give_window(client, state.data_cursor);
      } else {
        client.listen(kListen);
      }
      state = client.ask();
    }
  }

  void configure(BoardClient& client) {
    BoardClient::Command c = thimble_board_Command_init_zero;
    c.which_action = thimble_board_Command_configure_tag;
    c.action.configure.seed = kRunSeed;
    c.action.configure.steps = options_.steps;
    c.action.configure.save_every = options_.save_every;
    c.action.configure.data_from_host = options_.data_from_host;
    client.require(c, "configure");
  }

  /// The window that the board would have taken from its own text.
  void give_window(BoardClient& client, std::uint64_t index) {
    std::int32_t* const targets = host_ids_.data() + host_ids_.size() / 2;
    const Extent e = host_text_.batch(index, kRunSeed, host_ids_.data(), targets);
    BoardClient::Command c = thimble_board_Command_init_zero;
    c.which_action = thimble_board_Command_window_tag;
    c.action.window.index = index;
    auto& to = c.action.window.ids;
    const auto put = [&](std::int32_t id) {
      to.bytes[to.size++] = pb_byte_t(id);
      to.bytes[to.size++] = pb_byte_t(id >> 8);
    };
    put(host_ids_[0]);
    for (std::int32_t t = 0; t < e.context; ++t) put(targets[t]);
    client.command(c, "a window");
  }

  /// RAM holds anything after a reset.
  void scramble_memory() {
    const std::uint64_t word = philox(seed_, draws_++, kMemoryStream)[0] * 0x9E3779B97F4A7C15ull;
    std::byte* const arena = reinterpret_cast<std::byte*>(engine_.at(0));
    for (std::int64_t i = 0; i < engine_.layout().arena_bytes; ++i) arena[i] = std::byte(word >> (8 * (i % 8)));
    engine_.restore({});
  }

  void plan_power_cut() {
    if (options_.faults.power_cuts <= 0) return;
    if (draw(kPowerStream) < options_.faults.flash_cuts) {
      board_.flash().cut_power_after(std::int64_t(draw(kPowerStream) * double(operations_of_a_run()) /
                                                  options_.faults.power_cuts * 2));
      return;
    }
    const double mean = double(ticks_of_a_run()) / options_.faults.power_cuts;
    board_.cut_power_at(board_.now() + std::uint64_t(-mean * std::log(1 - draw(kPowerStream))));
  }

  std::int64_t operations_of_a_run() const {
    const std::int64_t saves = std::int64_t(options_.steps / options_.save_every) + 1;
    const std::int64_t bytes = engine_.layout().arena_bytes / 2;
    return saves * (bytes / kFlashPage + bytes / options_.flash.erase_bytes);
  }
  std::uint64_t ticks_of_a_run() const { return options_.steps * (ticks_of_a_step() + SimBoard::kByteTicks * 100); }
  std::uint64_t ticks_of_a_step() const {
    return options_.costs.instructions_of_step(engine_.layout().tape, engine_.layout().limit);
  }

  static void pass_time(void* self, const ProgramStep<float>& step, const Call<float>& call) {
    Life& l = *static_cast<Life*>(self);
    l.board_.advance(l.options_.costs.instructions(l.engine_.layout().tape[step.value], step.kind, call.extent));
  }

  static constexpr std::uint64_t kRunSeed = 7;

  Session<float>& session_;
  Engine<float>& engine_;
  const LifeOptions& options_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  bool has_broken_block_ = false;
  std::uint64_t kept_step_ = 0;  ///< of the newest checkpoint that the board has told of: it may not be lost
  TextData host_text_;
  TextData board_text_;
  std::vector<std::int32_t> ids_;
  std::vector<std::int32_t> host_ids_;
  SimBoard board_;
  SimChannel channel_;
  BoardModel model_;
};

}  // namespace

const char* text_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::finished: return "finished";
    case Outcome::flash_failed: return "the flash failed";
    case Outcome::unreachable: return "unreachable";
    case Outcome::worn_down: return "worn down";
    case Outcome::wrong: return "wrong";
  }
  return "unknown outcome";
}

LifeResult live(Session<float>& session, std::span<const std::byte> text, TextKind kind, const LifeOptions& options,
                std::uint64_t seed, std::optional<std::uint64_t> expected) {
  return Life(session, text, kind, options, seed).live(expected);
}

}  // namespace thimble
