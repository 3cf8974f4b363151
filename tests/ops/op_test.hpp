#pragma once
/// The checks that every op passes, for whatever cases it has. Include this header last.
///
/// 1. Write the cases, tests/ops/<op>_cases.hpp (nothing of the standard library: it is built for AVX-512,
/// too):
///      template <int C> struct LayerNormCase {
///        using Op = thimble::LayerNorm;
///        static constexpr Tolerance tolerance = {.forward = 20, .backward = 60};  // and why
///        static constexpr thimble::Extent extent = {2, 5};   // optional: the largest run; {2, 5} unless
///        given static constexpr int ids_below = 27;                // where the op has ids: 0..26; default 1
///        static constexpr void build(TapeBuilder& t) { ... leaves, then the op as the last value ... }
///      };
///      using LayerNormCases = CaseList<LayerNormCase<1>, LayerNormCase<15>, ...>;
///    An Init of the leaves says which numbers they get: normal(s), or near constant(c).
/// 2. Add the list to cases.hpp.
/// 3. Test, tests/ops/<op>_test.cpp:
///      TEST(LayerNorm, MatchesItsReferenceOnEveryImplementation) {
///        LayerNormCases::each([]<class Case> { check_kernels<Case>(); });
///      }
///      ... check_gradient<Case>()          reference gradient against central differences, in double
///      ... check_decode<Case>()            token by token gives the bits of forward
///      ... check_golden(problem, "layernorm.c7", {"x", "gain", "bias"})     against torch in double
///    For other numbers: Problem p = problem_of<Case>(Extent{1, 3}); p.values[0][4] = NAN; check_kernels(p).
///
/// check_kernels compares every implementation that this processor has (plain, AVX2, AVX-512), with 1 to 3
/// workers, aligned and not, overwriting and adding, in its own storage and in the value's gradient's where
/// the tape allows that, at the largest and at smaller runs: all bits equal within a profile, and near the
/// reference. Memory that a run has no business with must keep its canaries; what backward does not claim to
/// need (Value::needs) is null.

#include <initializer_list>

#include "core/base/digest.hpp"
#include "tests/ops/golden.hpp"
#include "tests/ops/op_run.hpp"

#include <CppUTest/TestHarness.h>

namespace thimble_test {

/// One implementation: the kernels of an instruction set for one case.
template <class real>
struct Implementation {
  const char* name;
  thimble::Profile profile;
  KernelSet<real> kernels;
};

inline bool processor_has_avx2() {
#ifdef THIMBLE_TEST_X86
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}
inline bool processor_has_avx512() {
#ifdef THIMBLE_TEST_X86
  return processor_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}

/// All that this processor can run. The first one is plain and fused.
template <class real>
std::vector<Implementation<real>> implementations_of(const Problem& p) {
  using enum thimble::Profile;
  std::vector<Implementation<real>> found;
  const auto add = [&](const char* name, thimble::Profile profile, const KernelTable& table) {
    for (int i = 0; i < table.count; ++i) {
      if (table.cases[i].key != p.key) continue;
      if constexpr (sizeof(real) == 4) {
        found.push_back({name, profile, table.cases[i].f32});
      } else {
        found.push_back({name, profile, table.cases[i].f64});
      }
    }
  };
  add("plain", fused, plain_fused_kernels);
  add("plain separate", separate, plain_separate_kernels);
#ifdef THIMBLE_TEST_X86
  if (processor_has_avx2()) add("avx2", fused, avx2_kernels);
  if (processor_has_avx512()) add("avx512", fused, avx512_kernels);
#endif
  if (found.size() < 2) FAIL((p.name + ": its cases are not in tests/ops/cases.hpp").c_str());
  return found;
}

namespace detail {

inline double largest(const std::vector<double>& x) {
  double most = 0;
  for (double v : x) most = std::fabs(v) > most ? std::fabs(v) : most;
  return most;
}

/// The reference's result, and the magnitude that a kernel's error is measured by.
struct Expectation {
  Result<double> result;
  Result<double> magnitude;
};

inline Result<double> magnitude_of(const Problem& p, const Result<double>& result, Mode mode) {
  if (p.tolerance.of == Tolerance::Of::terms) {
    Problem absolute = p;
    for (auto* lists : {&absolute.values, &absolute.old_gradients}) {
      for (auto& list : *lists) {
        for (double& x : list) x = std::fabs(x);
      }
    }
    for (double& x : absolute.d_out) x = std::fabs(x);
    return run(absolute, p.reference, mode);
  }
  Result<double> m = result;
  if (p.tolerance.of == Tolerance::Of::pointwise) {
    for (std::size_t i = 0; i < m.out.size(); ++i) {
      m.out[i] = std::fmax(std::fabs(result.out[i]), std::fmin(std::fabs(p.values[0][i]), 1));
      m.gradients[0][i] = std::fabs(p.d_out[i]) + (mode.accumulate ? std::fabs(p.old_gradients[0][i]) : 0);
    }
    return m;
  }
  for (double& x : m.out) x = std::fmax(largest(result.out), p.tolerance.floor);
  for (std::size_t k = 0; k < m.gradients.size(); ++k) {
    double old = 0;
    if (mode.accumulate) old = largest(p.old_gradients[k]);
    for (double& x : m.gradients[k]) x = std::fmax(largest(result.gradients[k]) + old, p.tolerance.floor);
  }
  return m;
}

inline Expectation expectation(const Problem& p, Mode mode) {
  Expectation e;
  e.result = run(p, p.reference, mode);
  e.magnitude = magnitude_of(p, e.result, mode);
  return e;
}

template <class real>
std::string text(const char* tensor, std::size_t i, real got, double want) {
  char line[200];
  std::snprintf(line, sizeof line, ": %s[%zu] is %.17g, should be %.17g (off by %.3g)", tensor, i,
                double(got), want, double(got) - want);
  return line;
}

/// Within `roundings` unit roundoffs of the magnitude, number by number; NaN and infinities as they are.
template <class real>
void expect_near(const std::string& where, const char* tensor, const std::vector<real>& got,
                 const std::vector<double>& want, const std::vector<double>& magnitude, double roundings) {
  if (got.size() != want.size()) FAIL((where + ": wrong size of " + tensor).c_str());
  constexpr double unit = sizeof(real) == 4 ? 0x1p-24 : 0x1p-53;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double w = want[i];
    bool ok;
    if (!std::isfinite(w)) {
      ok = std::isnan(w) ? std::isnan(got[i]) : double(got[i]) == w;
    } else {
      ok = std::fabs(double(got[i]) - w) <= roundings * unit * magnitude[i];
    }
    if (!ok) FAIL((where + text(tensor, i, got[i], w)).c_str());
  }
}

/// Bit for bit; one NaN is like another.
template <class real>
void expect_same(const std::string& where, const char* tensor, const std::vector<real>& got,
                 const std::vector<real>& want) {
  if (got.size() != want.size()) FAIL((where + ": wrong size of " + tensor).c_str());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(want[i]);
    if (!both_nan &&
        std::bit_cast<thimble::BitsOf<real>>(got[i]) != std::bit_cast<thimble::BitsOf<real>>(want[i])) {
      FAIL((where + " differs from plain" + text(tensor, i, got[i], double(want[i]))).c_str());
    }
  }
}

template <class real>
void expect_same(const std::string& where, const Result<real>& got, const Result<real>& want) {
  expect_same(where, "out", got.out, want.out);
  expect_same(where, "saved", got.saved, want.saved);
  for (std::size_t k = 0; k < got.gradients.size(); ++k) {
    expect_same(where, ("gradient " + std::to_string(k)).c_str(), got.gradients[k], want.gradients[k]);
  }
}

template <class real>
void expect_near(const std::string& where, const Problem& p, const Result<real>& got, const Expectation& e) {
  expect_near(where, "out", got.out, e.result.out, e.magnitude.out, p.tolerance.forward);
  for (std::size_t k = 0; k < got.gradients.size(); ++k) {
    expect_near(where, ("gradient " + std::to_string(k)).c_str(), got.gradients[k], e.result.gradients[k],
                e.magnitude.gradients[k], p.tolerance.backward);
  }
}

/// Every implementation in every mode: the first mode of the first implementation of a profile against `e`,
/// all others against that one, bit by bit.
template <class real>
void check_modes(const Problem& p, const std::vector<Mode>& modes, const Expectation& e) {
  const auto implementations = implementations_of<real>(p);
  Result<real> first[2];  // by profile
  for (const auto& implementation : implementations) {
    Result<real>& same = first[int(implementation.profile)];
    for (const Mode& mode : modes) {
      const Result<real> r = run(p, implementation.kernels, mode);
      char where[160];
      std::snprintf(where, sizeof where, "%s %s f%d, %d workers, %dx%d of %dx%d%s%s%s", p.name.c_str(),
                    implementation.name, int(8 * sizeof(real)), mode.workers, p.run.batch, p.run.context,
                    p.most.batch, p.most.context, mode.accumulate ? ", adding" : "",
                    mode.share ? ", shared" : "", mode.shift > 0 ? ", shifted" : "");
      if (!r.stayed_inside) FAIL((std::string(where) + ": wrote where it should not").c_str());
      if (same.out.empty()) {
        same = r;
        expect_near(where, p, r, e);
      }
      expect_same(where, r, same);
    }
  }
}

inline bool may_share(const Problem& p) {
  using thimble::Reverse;
  const Reverse r = p.value().reverse;
  return (r == Reverse::identity || r == Reverse::in_place) && p.has_gradient(0);
}

}  // namespace detail

/// All implementations of a problem's op against each other and against the reference.
inline void check_kernels(const Problem& p) {
  std::vector<Mode> modes = {{}, {.workers = 3}, {.shift = 1}};
  if (detail::may_share(p)) modes.push_back({.workers = 2, .share = true});
  const auto overwriting = detail::expectation(p, {});
  detail::check_modes<float>(p, modes, overwriting);
  detail::check_modes<double>(p, modes, overwriting);

  modes = {{.accumulate = true}, {.workers = 2, .accumulate = true, .shift = 1}};
  const auto adding = detail::expectation(p, modes[0]);
  detail::check_modes<float>(p, modes, adding);
  detail::check_modes<double>(p, modes, adding);
}

/// A fingerprint of what one worker computes: equal on every machine, within a profile.
template <class real>
std::uint64_t digest_of(const Problem& p, const KernelSet<real>& kernels) {
  const Result<real> r = run(p, kernels);
  thimble::Digest digest;
  digest.add(r.out.data(), r.out.size());
  digest.add(r.saved.data(), r.saved.size());
  for (const auto& gradient : r.gradients) digest.add(gradient.data(), gradient.size());
  return digest.value();
}

/// The same for a case with random numbers, at its largest run and at smaller ones.
template <class Case>
void check_kernels() {
  const Extent most = detail::most_of<Case>();
  check_kernels(problem_of<Case>(most));
  if (most.batch > 1) check_kernels(problem_of<Case>({most.batch - 1, most.context}, 2));
  if (most.context > 2) check_kernels(problem_of<Case>({most.batch, most.context - 2}, 3));
  check_kernels(problem_of<Case>({1, 1}, 4));
}

/// What the gradients are gradients of: sum(d_out * y), or the sum of the losses.
inline double objective(const Problem& p) {
  const std::vector<double> y = Runner<double>(p, {}).run_forward(p.reference);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += p.is_loss() ? y[i] : p.d_out[i] * y[i];
  return sum;
}

/// The reference's gradients against central differences of its forward, at most `samples` numbers an
/// operand.
inline void check_gradient(Problem p, std::size_t samples = 60) {
  const Result<double> r = run(p, p.reference);
  for (int k = 0; k < kMaxOperands; ++k) {
    if (!p.has_gradient(k) || p.first_alike(k) != k) continue;
    const std::vector<double>& gradient = r.gradients[std::size_t(k)];
    const double scale = std::fmax(detail::largest(gradient) + 1e-3, p.tolerance.floor);
    const std::size_t stride = gradient.size() / samples + 1;
    for (std::size_t i = 0; i < gradient.size(); i += stride) {
      const double x = p.values[std::size_t(k)][i];
      const double h = 1e-5 * (1 + std::fabs(x));
      double side[2];
      for (const int s : {0, 1}) {
        for (int j = 0; j < kMaxOperands; ++j) {
          if (p.has_gradient(j) && p.first_alike(j) == k)
            p.values[std::size_t(j)][i] = s == 0 ? x - h : x + h;
        }
        side[s] = objective(p);
      }
      for (int j = 0; j < kMaxOperands; ++j) {
        if (p.has_gradient(j) && p.first_alike(j) == k) p.values[std::size_t(j)][i] = x;
      }
      const double difference = (side[1] - side[0]) / (2 * h);
      if (!(std::fabs(difference - gradient[i]) <= p.tolerance.difference * scale)) {
        FAIL((p.name + " by differences" +
              detail::text(("gradient " + std::to_string(k)).c_str(), i, gradient[i], difference))
                 .c_str());
      }
    }
  }
}

template <class Case>
void check_gradient() {
  check_gradient(problem_of<Case>());
  check_gradient(problem_of<Case>({1, 1}, 5));
}

namespace detail {

template <class real>
void check_decode(const Problem& p, const Implementation<real>& implementation, int workers) {
  Runner<real> whole(p, {.workers = workers});
  const std::vector<real> y = whole.run_forward(implementation.kernels);
  const Value& v = p.value();
  const auto cols = std::size_t(v.shape.cols);
  Guarded<real> cache(std::size_t(p.run.context) * std::size_t(v.cache_cols), 0);
  for (int t = 0; t < p.run.context; ++t) {
    Guarded<real> out(cols, 0);
    std::vector<std::vector<real>> rows{std::size_t(kMaxOperands)};
    thimble::Call<real> c;
    c.out = out.data();
    c.cache = v.cache_cols > 0 ? cache.data() : nullptr;
    c.extent = {1, 1};
    c.rows = 1;
    c.position = t;
    c.scalar = v.scalar;
    Guarded<real> saved(std::size_t(v.saved_cols), 0);
    if (v.saved_cols > 0) c.saved = saved.data();
    for (int k = 0; k < kMaxOperands; ++k) {
      if (!p.has_operand(k)) continue;
      const bool per_token = p.operand(k).shape.kind == thimble::RowKind::tokens;
      const auto n = std::size_t(p.operand(k).shape.count({1, 1}));
      const std::size_t from = per_token ? std::size_t(t) * n : 0;
      if (p.is_ids(k)) {
        c.operands[k] = p.ids[std::size_t(k)].data() + from;
        continue;
      }
      const auto& values = p.values[std::size_t(k)];
      rows[std::size_t(k)].assign(values.begin() + std::ptrdiff_t(from),
                                  values.begin() + std::ptrdiff_t(from + n));
      c.operands[k] = rows[std::size_t(k)].data();
    }
    const std::int64_t bytes =
        p.scratch_bytes == nullptr
            ? 0
            : p.scratch_bytes(
                  v, StepKind::decode,
                  {.extent = p.most, .workers = 3, .real_bytes = int(sizeof(real)), .gradients = false});
    Guarded<real> scratch(std::size_t(bytes) / sizeof(real), 0);
    c.scratch = bytes > 0 ? scratch.data() : nullptr;
    run_workers(implementation.kernels.decode, c, workers);
    const std::string where = p.name + " " + implementation.name + " decode of token " + std::to_string(t);
    expect_same(where, "out", out.first(cols),
                {y.begin() + std::ptrdiff_t(std::size_t(t) * cols),
                 y.begin() + std::ptrdiff_t(std::size_t(t + 1) * cols)});
    const bool inside = out.untouched_beyond(cols) && scratch.untouched_beyond(scratch.size()) &&
                        saved.untouched_beyond(saved.size()) &&
                        cache.untouched_beyond(std::size_t(t + 1) * std::size_t(v.cache_cols));
    if (!inside) FAIL((where + ": wrote where it should not").c_str());
  }
}

}  // namespace detail

/// One token after the other gives the bits of forward on the whole sequence.
inline void check_decode(const Problem& p) {
  for (int workers = 1; workers <= 3; ++workers) {
    for (const auto& i : implementations_of<float>(p)) detail::check_decode<float>(p, i, workers);
    for (const auto& i : implementations_of<double>(p)) detail::check_decode<double>(p, i, workers);
  }
}

template <class Case>
void check_decode() {
  check_decode(problem_of<Case>({1, detail::most_of<Case>().context}));
}

/// All implementations and the reference against torch: `name` in tests/golden/ops.safetensors, whose tensors
/// of the names `operands` are the operands in turn ("" for one that is not there). Numbers of rows must be
/// those of `p.run`. Gradients are of sum(dy * y), or of the sum of the losses (the golden has those of their
/// mean).
inline void check_golden(Problem p, const std::string& name, std::initializer_list<const char*> operands) {
  int k = 0;
  for (const char* operand : operands) {
    if (p.is_ids(k)) {
      p.ids[std::size_t(k)] = golden_ids(name + "." + operand);
    } else if (*operand != 0) {
      p.values[std::size_t(k)] = golden(name + "." + operand);
    }
    ++k;
  }
  if (!p.is_loss()) p.d_out = golden(name + ".dy");
  detail::Expectation e{run(p, p.reference), {}};
  e.magnitude = detail::magnitude_of(p, e.result, {});
  const Result<double> reference = e.result;
  e.result.out = golden(name + ".y");
  double valid = 1;
  if (p.is_loss()) {
    double total = 0;
    for (const double loss : e.result.out) total += loss;
    valid = std::round(total / golden(name + ".mean")[0]);
  }
  k = 0;
  for (const char* operand : operands) {
    if (p.has_gradient(k) && *operand != 0) {
      e.result.gradients[std::size_t(k)] = golden(name + ".d" + operand);
      for (double& g : e.result.gradients[std::size_t(k)]) g *= valid;
    }
    ++k;
  }
  detail::expect_near("reference and golden " + name, p, reference, e);
  detail::check_modes<double>(p, {{}}, e);
  detail::check_modes<float>(p, {{}}, e);
}

}  // namespace thimble_test
