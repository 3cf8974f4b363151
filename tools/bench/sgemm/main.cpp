/// Every matrix product of the models against oneDNN and OpenBLAS, in one run.
///
/// For each shape the libraries take turns, and a round of turns is repeated; a library's time is the median of its
/// rounds, each the fastest of a few calls. All read warm operands and overwrite the result. Before a turn with more
/// than one thread the others' threads get time to fall asleep.

#include <cblas.h>
#include <dnnl.h>
#include <malloc.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/train/program.hpp"
#include "models/char.hpp"
#include "models/gpt2_small.hpp"
#include "models/microgpt.hpp"
#include "models/pocket.hpp"
#include "ports/host/arena.hpp"
#include "ports/host/cpu.hpp"
#include "ports/host/threads.hpp"
#include "tools/bench/models/bench_v256.hpp"
#include "tools/bench/models/bench_v65.hpp"
#include "tools/bench/models/bench_v96.hpp"
#include "tools/bench/sgemm/kernels.hpp"
#include "tools/bench/sgemm/shapes.hpp"
#include "tools/terminal/table.hpp"

namespace thimble {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char* kKindNames[] = {"nn", "nt", "tn"};
constexpr const char* kLibraries[] = {"thimble", "oneDNN", "OpenBLAS"};
constexpr int kLibraryCount = 3;

struct Flags {
  std::vector<int> threads = {1, 2};
  int rounds = 7;
  double turn_ms = 2;
  std::string filter, isa = "auto";
  bool json = false;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const std::size_t n = x.size();
  return n % 2 == 1 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

std::vector<ProductShape> all_shapes() {
  std::vector<ProductShape> list;
  add_product_shapes("microgpt 7", tape_of<Microgpt>, {1, 7}, list);
  add_product_shapes("microgpt", tape_of<Microgpt>, Microgpt::kExtent, list);
  add_product_shapes("pocket", tape_of<Pocket>, Pocket::kExtent, list);
  add_product_shapes("v96", tape_of<BenchV96>, BenchV96::kExtent, list);
  add_product_shapes("v65", tape_of<BenchV65>, BenchV65::kExtent, list);
  add_product_shapes("char", tape_of<Char>, Char::kExtent, list);
  add_product_shapes("v256", tape_of<BenchV256>, BenchV256::kExtent, list);
  add_product_shapes("gpt2 4x64", tape_of<Gpt2Small>, {4, 64}, list);
  add_product_shapes("gpt2 4x256", tape_of<Gpt2Small>, {4, 256}, list);
  return list;
}

/// The operands of one shape, and how each library multiplies them.
class Problem {
 public:
  Problem(const ProductShape& s, const SgemmKernels& kernels, ThreadTeam& team, int threads)
      : s_(s),
        kernels_(kernels),
        team_(team.team()),
        a_(s.m * s.k * 4),
        b_(s.k * s.n * 4),
        c_(s.m * s.n * 4),
        scratch_(std::max<std::int64_t>(64, product_scratch_bytes(s.kind, s.m, s.n, s.k, threads, 4))) {
    fill(a_, s.m * s.k);
    fill(b_, s.k * s.n);
  }

  void run(int library) {
    const bool ta = s_.kind == ProductKind::tn, tb = s_.kind == ProductKind::nt;
    const std::int64_t lda = ta ? s_.m : s_.k, ldb = tb ? s_.k : s_.n;
    float *a = numbers(a_), *b = numbers(b_), *c = numbers(c_);
    if (library == 0) {
      const ProductArgs<float> args{s_.m, s_.n, s_.k, a, lda, b, ldb, c, s_.n, Update::overwrite, nullptr,
                                    scratch_.data()};
      const auto product = kernels_.product[int(s_.kind)];
      if (is_alone()) return product(args, {});
      team_.each([&](const Worker& w) { product(args, w); });
    } else if (library == 1) {
      dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', s_.m, s_.n, s_.k, 1, a, lda, b, ldb, 0, c, s_.n);
    } else {
      cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, int(s_.m), int(s_.n),
                  int(s_.k), 1, a, int(lda), b, int(ldb), 0, c, int(s_.n));
    }
  }

  /// Seconds of a call: the fastest of several samples, in about `seconds` of time.
  double measure(int library, double seconds) {
    run(library);
    auto start = Clock::now();
    run(library);
    const int calls = std::max(1, int(50e-6 / std::max(seconds_since(start), 1e-7)));
    double best = 1e30;
    const auto begin = Clock::now();
    int samples = 0;
    do {
      start = Clock::now();
      for (int i = 0; i < calls; ++i) run(library);
      best = std::min(best, seconds_since(start) / calls);
    } while (++samples < 2 || seconds_since(begin) < seconds);
    return best;
  }

 private:
  /// As an engine decides it for the steps of a program.
  bool is_alone() const {
    return s_.flops() + 4.0 * double(s_.m * s_.k + s_.k * s_.n + s_.m * s_.n) < double(kSharedWork);
  }
  static float* numbers(HostArena& a) { return reinterpret_cast<float*>(a.data()); }
  static void fill(HostArena& a, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) numbers(a)[i] = float((i * 37) % 101) * 0.01f - 0.5f;
  }

  ProductShape s_;
  const SgemmKernels& kernels_;
  Team team_;
  HostArena a_, b_, c_, scratch_;
};

/// GFLOP/s of multiply-adds in registers on all threads at once.
double measure_peak(const SgemmKernels& kernels, ThreadTeam& team, int threads) {
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    std::vector<std::int64_t> flops(std::size_t(threads) * 8);
    const auto start = Clock::now();
    team.team().each([&](const Worker& w) { flops[std::size_t(w.index) * 8] = kernels.multiply_adds(1 << 18); });
    double sum = 0;
    for (const std::int64_t f : flops) sum += double(f);
    best = std::max(best, sum / seconds_since(start) / 1e9);
  }
  return best;
}

Json measure_shape(const ProductShape& s, const SgemmKernels& kernels, ThreadTeam& team, int threads, const Flags& f) {
  Problem problem(s, kernels, team, threads);
  std::vector<double> times[kLibraryCount];
  for (int round = 0; round < f.rounds; ++round) {
    for (int turn = 0; turn < kLibraryCount; ++turn) {
      const int library = (round + turn) % kLibraryCount;
      if (threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(6));
      times[library].push_back(problem.measure(library, f.turn_ms * 1e-3));
    }
  }
  Json j{{"user", s.user}, {"kind", kKindNames[int(s.kind)]}, {"m", s.m}, {"n", s.n}, {"k", s.k}, {"threads", threads}};
  double rate[kLibraryCount];
  for (int i = 0; i < kLibraryCount; ++i) j[kLibraries[i]] = rate[i] = s.flops() / median(times[i]) / 1e9;
  j["ratio"] = rate[0] / std::max(rate[1], rate[2]);
  j["small"] = s.m <= 64 && s.n <= 64 && s.k <= 256;
  return j;
}

double geometric_mean(const Json& rows, int threads, bool small_only, const char* against) {
  double sum = 0;
  int n = 0;
  for (const Json& r : rows) {
    if (r["threads"] != threads || (small_only && !r["small"].get<bool>())) continue;
    sum += std::log(against ? r["thimble"].get<double>() / r[against].get<double>() : r["ratio"].get<double>());
    ++n;
  }
  return n > 0 ? std::exp(sum / n) : 0;
}

std::string fixed(double x, int digits) {
  std::ostringstream o;
  o << std::fixed << std::setprecision(digits) << x;
  return o.str();
}

void print(const Json& report) {
  Table table({"threads", "kind", "m", "n", "k", "thimble", "oneDNN", "OpenBLAS", "ratio", "used by"});
  for (const Json& r : report["shapes"]) {
    table.add_row({std::to_string(r["threads"].get<int>()), r["kind"], std::to_string(r["m"].get<int>()),
                   std::to_string(r["n"].get<int>()), std::to_string(r["k"].get<int>()), fixed(r["thimble"], 1),
                   fixed(r["oneDNN"], 1), fixed(r["OpenBLAS"], 1), fixed(r["ratio"], 2), r["user"]});
  }
  std::cout << "GFLOP/s, ours with " << report["kernels"].get<std::string>() << ", OpenBLAS with "
            << report["openblas_core"].get<std::string>() << "; ratio: to the better of the two\n"
            << table.text();
  for (const Json& s : report["summary"]) {
    std::cout << s["threads"] << " threads: peak " << fixed(s["peak_gflops"], 0) << " GFLOP/s; smallest ratio "
              << fixed(s["smallest_ratio"], 2) << ", " << s["below_0_95"] << " of " << s["shapes"]
              << " below 0.95; geometric mean " << fixed(s["mean_ratio"], 2) << "; up to 64 x 64 x 256: "
              << fixed(s["mean_ratio_small"], 2) << " to the better, " << fixed(s["mean_to_onednn_small"], 2)
              << " to oneDNN, " << fixed(s["mean_to_openblas_small"], 2) << " to OpenBLAS\n";
  }
}

/// Gives each library that many threads, its second on the second processor and so on, as our team has them: the system
/// sometimes lets two share one.
void set_peer_threads(int threads) {
  omp_set_num_threads(threads);
  openblas_set_num_threads(threads);
  volatile int sink = 0;
#pragma omp parallel
  sink = omp_get_thread_num();
  const int processors = ThreadTeam::available();
  std::vector<pid_t> others;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t id = std::stoi(task.path().filename());
    if (id != getpid()) others.push_back(id);
  }
  std::sort(others.begin(), others.end());
  for (std::size_t i = 0; processors > 1 && i < others.size(); ++i) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(1 + int(i) % (processors - 1), &set);
    sched_setaffinity(others[i], sizeof(set), &set);
  }
}

int run(const Flags& flags) {
  const Isa isa = flags.isa == "auto" ? best_isa() : isa_from(flags.isa).value_or(Isa::plain);
  if (isa == Isa::plain || !can_run(isa)) {
    std::cerr << "thimble_sgemm_bench: this processor cannot run these kernels; take --isa avx512 or avx2\n";
    return 1;
  }
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // or oneDNN gets new pages from the system in each call
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const SgemmKernels kernels = isa == Isa::avx512 ? sgemm_kernels_avx512() : sgemm_kernels_avx2();
  Json report{{"kernels", text_of(isa)}, {"openblas_core", openblas_get_corename()},
              {"onednn_isa", int(dnnl_get_effective_cpu_isa())}, {"shapes", Json::array()}, {"summary", Json::array()}};
  for (const int threads : flags.threads) {
    set_peer_threads(threads);  // before our team pins this thread, from which theirs would inherit the processor
    ThreadTeam team(threads);
    const double peak = measure_peak(kernels, team, threads);
    Json summary{{"threads", threads}, {"peak_gflops", peak}};
    int count = 0, below = 0;
    double smallest = 1e30;
    for (const ProductShape& s : all_shapes()) {
      const std::string name = std::string(kKindNames[int(s.kind)]) + " " + s.user;
      if (name.find(flags.filter) == std::string::npos) continue;
      report["shapes"].push_back(measure_shape(s, kernels, team, threads, flags));
      const double ratio = report["shapes"].back()["ratio"];
      ++count;
      below += ratio < 0.95;
      smallest = std::min(smallest, ratio);
    }
    summary.update({{"shapes", count}, {"below_0_95", below}, {"smallest_ratio", smallest},
                    {"mean_ratio", geometric_mean(report["shapes"], threads, false, nullptr)},
                    {"mean_ratio_small", geometric_mean(report["shapes"], threads, true, nullptr)},
                    {"mean_to_onednn_small", geometric_mean(report["shapes"], threads, true, "oneDNN")},
                    {"mean_to_openblas_small", geometric_mean(report["shapes"], threads, true, "OpenBLAS")}});
    report["summary"].push_back(summary);
  }
  if (flags.json) {
    std::cout << report.dump() << "\n";
  } else {
    print(report);
  }
  return 0;
}

/// OpenBLAS 0.3.21 does not know the newest processors and takes slow kernels for some of them, and its idle threads
/// stay awake for long; both are read from the environment before main.
void start_over_with_peers_at_their_best(char** argv) {
  constexpr const char* kDone = "THIMBLE_SGEMM_BENCH_STARTED";
  if (std::getenv(kDone) != nullptr) return;
  setenv(kDone, "1", 1);
  if (can_run(Isa::avx512)) setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 1);
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 1);
  unsetenv("OPENBLAS_L2_SIZE");
  execv("/proc/self/exe", argv);
}

}  // namespace

}  // namespace thimble

int main(int argc, char** argv) {
  thimble::start_over_with_peers_at_their_best(argv);
  thimble::Flags flags;
  CLI::App app("The models' matrix products against oneDNN and OpenBLAS");
  app.add_option("--threads", flags.threads, "Numbers of threads, one after the other")->delimiter(',');
  app.add_option("--rounds", flags.rounds, "Turns of each library per shape")->capture_default_str();
  app.add_option("--turn", flags.turn_ms, "Milliseconds of a turn, at least")->capture_default_str();
  app.add_option("--filter", flags.filter, "Only shapes whose kind, model and value contain this");
  app.add_option("--isa", flags.isa, "avx512, avx2 or auto")->capture_default_str();
  app.add_flag("--json", flags.json, "One JSON object on standard output");
  CLI11_PARSE(app, argc, argv);
  return thimble::run(flags);
}
