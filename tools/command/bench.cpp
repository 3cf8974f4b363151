/// thimble bench: how long a training step takes, and where the time goes.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>

#include "tools/checkpoint/session_checkpoint.hpp"
#include "tools/command/common.hpp"
#include "tools/terminal/table.hpp"
#include "tools/train/data_source.hpp"

namespace thimble {

namespace {

using Clock = std::chrono::steady_clock;

struct BenchFlags {
  CommonFlags common;
  LayoutFlags layout;
  std::string model;
  int steps = 10;
  int warmup = 2;
  double clip = -1;
  std::string checkpoint;
  std::string documents;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Time and work of one kind of step.
struct OpCost {
  double ms = 0;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  int calls = 0;
};

/// What the processor reaches with multiply-adds in registers on all threads, in GFLOP/s.
template <class real>
double measure_peak(const KernelTable<real>& kernels, int threads) {
  ThreadTeam team(threads);
  std::int64_t rounds = 256;
  double best = 0;
  for (int run = 0; run < 30;) {
    std::atomic<std::int64_t> flops = 0;
    const auto start = Clock::now();
    team.team().each([&](const Worker&) { flops += kernels.multiply_adds(rounds); });
    const double ms = milliseconds_since(start);
    if (ms < 0.2) {  // short enough for the start of the threads to show
      rounds *= 2;
      continue;
    }
    best = std::max(best, double(flops) / ms / 1e6);
    ++run;
  }
  return best;
}

/// Sums up the time of every step, by op and direction.
template <class real>
class Profiler {
 public:
  explicit Profiler(const Session<real>& session)
      : tape_(session.model().tape), plan_(session.prepared().train_plan), program_(session.prepared().layout.train) {
    observer = {this, before, after};
  }
  std::map<std::string, OpCost> costs;
  StepObserver<real> observer;

 private:
  static void before(void* self, const ProgramStep<real>&, const Call<real>&) {
    static_cast<Profiler*>(self)->start_ = Clock::now();
  }
  static void after(void* self, const ProgramStep<real>& step, const Call<real>& call) {
    auto& p = *static_cast<Profiler*>(self);
    const double ms = milliseconds_since(p.start_);
    const Value& v = p.tape_[step.value];
    const Flops f = op_flops(v, call.extent);
    const bool backward = step.kind == StepKind::backward;
    OpCost& c = p.costs[std::string(op_name(v).view()) + (backward ? " backward" : " forward")];
    c.ms += ms;
    c.flops += backward ? f.backward : f.forward;
    c.bytes += bytes_touched(p.plan_.tensors, p.plan_.step_tensors[std::size_t(&step - p.program_.steps)]);
    ++c.calls;
  }

  TapeView tape_;
  const PlanData& plan_;
  const ProgramView<real>& program_;
  Clock::time_point start_;
};

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  return n % 2 == 1 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

template <class real>
class StepTimer {
 public:
  StepTimer(Session<real>& session, const std::vector<TokenBatch>& batches, const TrainOptions& options)
      : session_(session), batches_(batches), options_(options) {}

  /// One whole step; returns {forward and backward, update} in ms.
  std::pair<double, double> step(std::size_t index) {
    const TokenBatch& b = batches_[index % batches_.size()];
    const auto start = Clock::now();
    const Status s = session_.engine().accumulate(b.tokens, b.targets, b.extent);
    if (s != Status::ok) throw Error("bench", text_of(s), "");
    const double passes = milliseconds_since(start);
    const auto middle = Clock::now();
    if (session_.engine().update(options_).status != Status::ok) throw Error("bench", "the loss is not finite", "");
    return {passes, milliseconds_since(middle)};
  }

 private:
  Session<real>& session_;
  const std::vector<TokenBatch>& batches_;
  TrainOptions options_;
};

/// Time to save the session's run in a folder, and to load it again.
template <class real>
Json time_checkpoint(Session<real>& session, const BenchFlags& flags, const TrainOptions& options, int rounds) {
  const std::filesystem::path file = std::filesystem::path(flags.checkpoint) / "bench.thimble";
  const Profile profile = session_options(flags.common, {}).profile;
  TrainingState state = first_state(session, profile, options, flags.common.seed);
  std::vector<double> saves, loads;
  std::uint64_t bytes = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    bytes = save_checkpoint(session, state, {}, file);
    saves.push_back(milliseconds_since(start));
    const auto middle = Clock::now();
    load_checkpoint(session, state, file);
    loads.push_back(milliseconds_since(middle));
  }
  std::filesystem::remove(file);
  const auto rate = [&](double ms) { return double(bytes) / ms / 1e3; };
  return {{"bytes", bytes}, {"save_ms", median(saves)}, {"load_ms", median(loads)},
          {"save_mb_per_second", rate(median(saves))}, {"load_mb_per_second", rate(median(loads))}};
}

std::string fixed(double x, int digits, const char* unit = "") {
  std::ostringstream o;
  o << std::fixed << std::setprecision(digits) << x << unit;
  return o.str();
}

void print(const Json& j) {
  std::cout << j["model"].get<std::string>() << ", " << j["tokens_per_step"].get<double>() << " tokens a step, "
            << j["kernels"].get<std::string>() << ", " << j["threads"] << " threads\n"
            << grouped(std::int64_t(j["step_ms"].size())) << " steps in " << fixed(j["total_ms"], 3)
            << " ms; median step " << fixed(j["median_ms"], 3) << " ms, of it the update " << fixed(j["median_update_ms"], 3)
            << " ms; " << fixed(j["gflops"], 1) << " GFLOP/s, " << fixed(100 * j["peak_share"].get<double>(), 0)
            << " % of the peak of " << fixed(j["peak_gflops"], 0) << "; " << fixed(j["tokens_per_second"], 0)
            << " tokens/s\n\n";
  Table table({"op", "calls", "ms", "time", "GFLOP/s", "peak", "MB", "GB/s"});
  for (const Json& op : j["ops"]) {
    table.add_row({op["op"], std::to_string(op["calls"].get<int>()), fixed(op["ms"], 3),
                   fixed(100 * op["share"].get<double>(), 1, " %"), fixed(op["gflops"], 1),
                   fixed(100 * op["peak_share"].get<double>(), 0, " %"), fixed(op["bytes"].get<double>() / 1e6, 2),
                   fixed(op["gb_per_second"], 1)});
  }
  std::cout << table.text();
}

/// What the timed steps train on, in turn: one random batch, or a document a step.
std::vector<TokenBatch> batches_for(const BenchFlags& flags, const Model& model, const Extent& extent) {
  if (!model.takes_tokens()) return {{}};
  if (flags.documents.empty()) return {random_batch(model, extent, flags.common.seed)};
  DataChoice choice;
  choice.documents = flags.documents;
  choice.in_order = true;
  const auto data = open_data(choice, model, extent, flags.common.seed);
  std::vector<TokenBatch> batches;
  for (int i = 0; i < flags.steps; ++i) batches.push_back(data->batch(std::uint64_t(i)));
  return batches;
}

/// A mean, without a fraction where it has none.
Json number(double x) { return x == double(std::int64_t(x)) ? Json(std::int64_t(x)) : Json(x); }

/// Floating-point operations of one pass forward and back.
std::int64_t flops_of(TapeView tape, const PlanData& plan, const Extent& extent) {
  std::int64_t sum = 0;
  for (const Step& step : plan.steps) {
    const Flops f = op_flops(tape[step.value], extent);
    sum += step.kind == StepKind::backward ? f.backward : f.forward;
  }
  return sum;
}

template <class real>
void run(const BenchFlags& flags) {
  const Model& model = find_model(flags.model);
  const Extent extent = model.takes_tokens() ? flags.layout.extent_for(model) : Extent{};
  const std::vector<TokenBatch> batches = batches_for(flags, model, extent);
  SessionOptions options = session_options(flags.common, extent);
  options.recompute = flags.layout.recompute_for(model);
  const double peak = measure_peak(choose_kernels<real>(model, options), options.threads);
  Session<real> session(model, options);
  session.engine().initialise(flags.common.seed);
  TrainOptions training = model.training;
  training.schedule = {.kind = ScheduleKind::constant, .peak = 1e-4};
  if (flags.clip >= 0) training.optimizer.clip = flags.clip;
  StepTimer<real> timer(session, batches, training);
  for (int i = 0; i < flags.warmup; ++i) timer.step(std::size_t(i));

  std::vector<double> steps, updates;
  double flops = 0, tokens = 0, total_ms = 0;
  for (int i = 0; i < flags.steps; ++i) {
    const auto [passes, update] = timer.step(std::size_t(i));
    const Extent& e = batches[std::size_t(i) % batches.size()].extent;
    steps.push_back(passes + update);
    updates.push_back(update);
    total_ms += passes + update;
    flops += double(flops_of(model.tape, session.prepared().train_plan, e)) / flags.steps;
    tokens += double(e.tokens()) / flags.steps;
  }
  Profiler<real> profiler(session);
  session.engine().set_observer(&profiler.observer);
  const double update_ms = timer.step(0).second;
  session.engine().set_observer(nullptr);
  // The norm reads the gradients; then weights and moments are read and written, and the gradients read again.
  const std::int64_t update_numbers = (4 + 2 * options.moments) * model.parameter_count();
  profiler.costs["update"] = {update_ms, 0, update_numbers * std::int64_t(sizeof(real)), 1};
  double profiled_ms = 0;
  for (const auto& [name, c] : profiler.costs) profiled_ms += c.ms;

  const double ms = flags.documents.empty() ? median(steps) : total_ms / flags.steps;
  Json j{{"model", model.name}, {"parameters", model.parameter_count()}, {"batch", extent.batch},
         {"context", extent.context}, {"tokens_per_step", number(tokens)}, {"threads", session.threads()},
         {"kernels", session.kernels_name()}, {"real", flags.common.real}, {"step_ms", steps}, {"update_ms", updates},
         {"total_ms", total_ms}, {"median_ms", median(steps)}, {"median_update_ms", median(updates)},
         {"flops_per_step", number(flops)}, {"gflops", flops / ms / 1e6}, {"peak_gflops", peak},
         {"peak_share", flops / ms / 1e6 / peak}, {"tokens_per_second", 1000.0 * tokens / ms},
         {"arena_bytes", session.prepared().layout.arena_bytes}};
  std::vector<std::pair<std::string, OpCost>> sorted(profiler.costs.begin(), profiler.costs.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.ms > b.second.ms; });
  j["ops"] = Json::array();
  for (const auto& [name, c] : sorted) {
    const auto rate = [&](std::int64_t n) { return c.ms > 0 ? double(n) / c.ms / 1e6 : 0.0; };
    j["ops"].push_back({{"op", name}, {"calls", c.calls}, {"ms", c.ms}, {"share", c.ms / profiled_ms},
                        {"flops", c.flops}, {"gflops", rate(c.flops)}, {"peak_share", rate(c.flops) / peak},
                        {"bytes", c.bytes}, {"gb_per_second", rate(c.bytes)}});
  }
  if (!flags.checkpoint.empty()) j["checkpoint"] = time_checkpoint(session, flags, training, 3);
  if (flags.common.json) return print_json(j);
  print(j);
  if (j.contains("checkpoint")) {
    const Json& c = j["checkpoint"];
    std::cout << "\ncheckpoint of " << grouped(c["bytes"].get<std::int64_t>()) << " bytes: saved at "
              << std::int64_t(c["save_mb_per_second"].get<double>()) << " MB/s, loaded at "
              << std::int64_t(c["load_mb_per_second"].get<double>()) << " MB/s\n";
  }
}

}  // namespace

void add_bench_command(CLI::App& app) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::App* const c = app.add_subcommand("bench", "Time a training step, and each kind of op in it");
  c->add_option("model", flags->model, "The model's name")->required();
  c->add_option("--steps", flags->steps, "Timed steps")->check(whole_number(1, 1'000'000))->capture_default_str();
  c->add_option("--warmup", flags->warmup, "Steps before them")->check(whole_number(0, 1'000'000))->capture_default_str();
  c->add_option("--clip", flags->clip, "Largest gradient norm; 0: no clipping; default: the model's")
      ->check(real_number(0, 1e30));
  c->add_option("--documents", flags->documents, "Train on the documents of this file, one a line and step, in order");
  c->add_option("--checkpoint", flags->checkpoint, "Also time saving and loading a checkpoint in this folder");
  flags->layout.add_to(*c);
  flags->common.add_to(*c);
  c->callback([flags] { with_real(flags->common, [&]<class real>() { run<real>(*flags); }); });
}

}  // namespace thimble
