/// thimble sim: whole lives of a board in this process, with everything going wrong.

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>

#include "tools/board/board_image.hpp"
#include "tools/command/common.hpp"
#include "tools/files/text_file.hpp"
#include "tools/sim/life.hpp"
#include "tools/terminal/progress.hpp"

namespace thimble {

namespace {

struct SimFlags {
  CommonFlags common;
  std::string board;
  std::string model;
  std::string text;
  std::string documents;
  std::string recompute;
  std::vector<std::string> faults = {"all"};
  std::int64_t lives = 1;
  std::uint64_t steps = 40;
  std::uint32_t save_every = 5;
  bool from_host = false;
};

/// Names of --faults.
const char* const kFaultNames[] = {"line", "power", "flash", "all", "none"};

LifeFaults faults_of(const std::vector<std::string>& names) {
  LifeFaults f;
  for (const std::string& name : names) {
    const bool all = name == "all";
    if (name == "line" || all) f.line = {0.001, 0.001, 0.001, 0.0002};
    if (name == "power" || all) f.power_cuts = 4, f.flash_cuts = 0.5;
    if (name == "flash" || all) f.broken_blocks = 0.3;
  }
  return f;
}

/// As a shell takes it for one word.
std::string for_shell(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const bool plain = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,=+-") ==
                     std::string::npos;
  return plain ? text : "'" + quoted + "'";
}

/// Before any memory is taken.
void check(const SimFlags& flags) {
  if (flags.faults.size() > 1 && std::count(flags.faults.begin(), flags.faults.end(), "none") > 0) {
    throw Error("--faults", "none stands alone", "leave it out, or the others");
  }
  const BoardInfo& board = find_board(flags.board);
  const Model& model = find_model(flags.model);
  if (flags.from_host) require_one_row(model);
  require_room(model, board, board_schedule(model, flags.recompute));
}

class SimCommand {
 public:
  explicit SimCommand(const SimFlags& flags)
      : flags_(flags), board_(find_board(flags.board)), model_(find_model(flags.model)),
        text_(!flags.text.empty()        ? read_file(flags.text)
              : !flags.documents.empty() ? read_file(flags.documents)
                                         : kGeneratedNames),
        kind_(flags.text.empty() ? TextKind::documents : TextKind::windows), session_(model_, options()) {
    options_.steps = flags.steps;
    options_.save_every = flags.save_every;
    options_.data_from_host = flags.from_host;
    options_.profile = board_.profile;
    options_.costs = OpCosts::of_board(board_.name);
    options_.flash = board_.checkpoint_flash;
  }

  int run() {
    const LifeResult quiet = live_one(flags_.common.seed, {});
    if (quiet.outcome != Outcome::finished) throw Error("a life without faults", quiet.reason, "");
    options_.faults = faults_of(flags_.faults);
    Progress progress(flags_.lives, flags_.common.json ? Progress::Style::quiet : Progress::Style::automatic, "life");
    for (std::int64_t i = 0; i < flags_.lives; ++i) {
      const std::uint64_t seed = flags_.common.seed + std::uint64_t(i);
      const LifeResult r = live_one(seed, quiet.digest);
      add(seed, r);
      progress.update(i + 1);
    }
    progress.finish();
    report(quiet);
    if (!outcomes_.contains(text_of(Outcome::finished))) std::cerr << "no life finished\n";
    return wrong_.empty() && outcomes_.contains(text_of(Outcome::finished)) ? 0 : 1;
  }

 private:
  SessionOptions options() const {
    SessionOptions o = session_options(flags_.common, model_.extent);
    o.threads = 1;
    o.profile = board_.profile;
    o.moments = model_.training.optimizer.moments();
    o.recompute = board_schedule(model_, flags_.recompute);
    o.fuse_update = allows_fused_update(model_.training.optimizer);
    return o;
  }

  LifeResult live_one(std::uint64_t seed, std::optional<std::uint64_t> expected) {
    return live(session_, std::as_bytes(std::span(text_)), kind_, options_, seed, expected);
  }

  void add(std::uint64_t seed, const LifeResult& r) {
    ++outcomes_[text_of(r.outcome)];
    resets_ += r.resets;
    repeated_ += r.repeated;
    damaged_ += r.damaged_bytes;
    most_erases_ = std::max(most_erases_, r.most_erases);
    seconds_ += r.seconds;
    if (r.outcome != Outcome::wrong) return;
    wrong_.push_back({{"seed", seed}, {"reason", r.reason}});
    std::cerr << "seed " << seed << ": " << r.reason << "; replay: " << replay(seed) << "\n";
  }

  /// The command that lives this life again.
  std::string replay(std::uint64_t seed) const {
    const SimFlags usual;
    std::string c = "thimble sim " + flags_.board + " " + flags_.model + " --seed " + std::to_string(seed);
    const auto add = [&](const char* name, const std::string& value, bool given) {
      if (given) c += std::string(" ") + name + " " + for_shell(value);
    };
    add("--text", flags_.text, !flags_.text.empty());
    add("--documents", flags_.documents, !flags_.documents.empty());
    add("--faults", CLI::detail::join(flags_.faults, ","), flags_.faults != usual.faults);
    add("--steps", std::to_string(flags_.steps), flags_.steps != usual.steps);
    add("--save-every", std::to_string(flags_.save_every), flags_.save_every != usual.save_every);
    add("--recompute", flags_.recompute, !flags_.recompute.empty());
    return c + (flags_.from_host ? " --from-host" : "");
  }

  void report(const LifeResult& quiet) const {
    Json j{{"board", board_.name}, {"model", model_.name}, {"lives", flags_.lives}, {"digest", digest_text(quiet.digest)},
           {"outcomes", outcomes_}, {"resets", resets_}, {"commands_repeated", repeated_}, {"bytes_damaged", damaged_},
           {"most_erases_of_a_block", most_erases_}, {"virtual_seconds", seconds_}, {"wrong", wrong_}};
    if (flags_.common.json) return print_json(j);
    std::cout << flags_.lives << (flags_.lives == 1 ? " life: " : " lives: ");
    const char* separator = "";
    for (const auto& [outcome, count] : outcomes_) {
      std::cout << separator << count << " " << outcome;
      separator = ", ";
    }
    std::cout << "\n" << resets_ << " power cuts, " << damaged_ << " bytes damaged on the line, " << repeated_
              << " commands repeated, at most " << most_erases_ << " erases of a block, " << std::fixed
              << std::setprecision(0) << seconds_ << " s of virtual time\n"
              << "digest of a life without faults " << digest_text(quiet.digest) << "\n";
  }

  const SimFlags& flags_;
  const BoardInfo& board_;
  const Model& model_;
  std::string text_;
  TextKind kind_;
  Session<float> session_;
  LifeOptions options_;
  std::map<std::string, std::int64_t> outcomes_;
  Json wrong_ = Json::array();
  std::int64_t resets_ = 0;
  std::uint64_t repeated_ = 0;
  std::uint64_t damaged_ = 0;
  std::int64_t most_erases_ = 0;
  double seconds_ = 0;
};

}  // namespace

void add_sim_command(CLI::App& app) {
  const auto f = std::make_shared<SimFlags>();
  CLI::App* const c = app.add_subcommand("sim", "Live whole lives of a board in this process, faults and all");
  c->add_option("board", f->board, "The board's name, as thimble board list shows it")->required();
  c->add_option("model", f->model, "The model's name")->required();
  auto* const text = c->add_option("--text", f->text, "Train on random windows of a text")->check(file_name());
  c->add_option("--documents", f->documents, "Train on documents, one a line; default: a generated list")
      ->excludes(text)
      ->check(file_name());
  c->add_option("--faults", f->faults, "What goes wrong: line, power, flash, all, none")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kFaultNames), std::end(kFaultNames))))
      ->capture_default_str();
  c->add_option("--lives", f->lives, "Lives, of the seeds --seed, --seed + 1, ...")
      ->check(whole_number(1, 1'000'000'000))
      ->capture_default_str();
  c->add_option("--steps", f->steps, "Training steps of a life")->check(whole_number(1, 1'000'000))->capture_default_str();
  c->add_option("--save-every", f->save_every, "Steps between checkpoints")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  c->add_option("--recompute", f->recompute, kRecomputeHelp);
  c->add_flag("--from-host", f->from_host, "The windows come over the line");
  f->common.add_without_arithmetic_to(*c);
  c->callback([f] {
    check(*f);
    const int status = SimCommand(*f).run();
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace thimble
