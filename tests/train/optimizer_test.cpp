/// Optimizer steps against the written order of operations (bit for bit), PyTorch's formulas and its numbers.

#include "core/train/optimizer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/train/update_kernels.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;
using namespace thimble_test;

namespace {

constexpr int kSeed = 20261130;
constexpr std::int64_t kCounts[] = {1, 3, 15, 16, 17, 31, 33, 48, 257, 4095, 4096, 4097, 12305};

std::vector<const Updates*> all_updates() {
  std::vector<const Updates*> list = {plain_fused_updates(), plain_separate_updates()};
#ifdef THIMBLE_TEST_X86
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  if (avx2) list.push_back(avx2_updates());
  if (avx512) list.push_back(avx512_updates());
#endif
  return list;
}

template <class real>
real chain(Profile profile, real a, real b, real c) {
  return profile == Profile::fused ? mul_add<Profile::fused>(a, b, c) : mul_add<Profile::separate>(a, b, c);
}

/// A tensor with its gradient and moments. `offset` shifts it against the alignment of the allocation.
template <class real>
struct Tensors {
  std::int64_t count;
  std::vector<real> w, g, m, v;
  int offset;

  Tensors(std::int64_t count, int offset, std::mt19937_64& random)
      : count(count),
        w(fill(count + offset, 1, random)),
        g(fill(count + offset, 3, random)),
        m(fill(count + offset, 0.1, random)),
        v(fill(count + offset, 0.1, random)),
        offset(offset) {
    for (real& x : v) x = std::abs(x);
  }
  real* weight() { return w.data() + offset; }
  real* gradient() { return g.data() + offset; }
  real* first() { return m.data() + offset; }
  real* second() { return v.data() + offset; }

 private:
  static std::vector<real> fill(std::int64_t n, double deviation, std::mt19937_64& random) {
    std::normal_distribution<double> normal(0, deviation);
    std::vector<real> x(static_cast<std::size_t>(n));
    for (real& e : x) e = real(normal(random));
    return x;
  }
};

template <class real>
bool same_bits(const std::vector<real>& a, const std::vector<real>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](real x, real y) {
    return std::bit_cast<BitsOf<real>>(x) == std::bit_cast<BitsOf<real>>(y);
  });
}

template <class real>
AdamWStep<real> adamw_step(const OptimizerOptions& o, double learning_rate, const BetaPowers& powers, double scale,
                           bool decays) {
  const AdamWStep<real> step(o, learning_rate, powers, scale);
  return decays ? step.decaying(o, learning_rate) : step;
}

template <class real>
void run_adamw(const Updates& u, Tensors<real>& t, const AdamWStep<real>& step, int workers = 1) {
  for (int i = workers - 1; i >= 0; --i) {
    u.of<real>().adamw(t.weight(), t.gradient(), t.first(), t.second(), t.count, step, Worker{i, workers});
  }
}
template <class real>
void run_sgd(const Updates& u, Tensors<real>& t, const SgdStep<real>& step, int workers = 1) {
  real* const momentum = step.momentum != 0 ? t.first() : nullptr;
  for (int i = workers - 1; i >= 0; --i) {
    u.of<real>().sgd(t.weight(), t.gradient(), momentum, t.count, step, Worker{i, workers});
  }
}

/// The order of operations that optimizer.hpp writes down.
template <class real>
void written_adamw(Profile p, Tensors<real>& t, const AdamWStep<real>& s) {
  for (std::int64_t i = 0; i < t.count; ++i) {
    real &w = t.weight()[i], &m = t.first()[i], &v = t.second()[i];
    const real g = t.gradient()[i], r = s.second_scale * g;
    m = chain<real>(p, s.beta1, m, s.first_scale * g);
    if (std::abs(m) < real(kMomentFloor)) m = 0;
    v = chain<real>(p, s.beta2, v, r * r);
    if (v < real(kMomentFloor)) v = 0;
    const real direction = m / chain<real>(p, std::sqrt(v), s.root_scale, s.epsilon);
    w = chain<real>(p, -s.rate, direction, w * s.keep);
    if (std::abs(w) < s.weight_floor) w = 0;
  }
}
template <class real>
void written_sgd(Profile p, Tensors<real>& t, const SgdStep<real>& s) {
  for (std::int64_t i = 0; i < t.count; ++i) {
    real &w = t.weight()[i], &m = t.first()[i];
    real b = chain<real>(p, s.decay, w, t.gradient()[i] * s.gradient_scale);
    if (s.momentum != 0) {
      b = chain<real>(p, s.momentum, m, b);
      if (std::abs(b) < real(kMomentFloor)) b = 0;
      m = b;
    }
    w = chain<real>(p, -s.rate, b, w);
    if (std::abs(w) < s.weight_floor) w = 0;
  }
}

/// One block: sixteen lanes in turn, then the tree.
template <class real>
double written_sum_squares(Profile p, const real* x, std::int64_t n) {
  real lane[16] = {};
  for (std::int64_t i = 0; i < n; ++i) lane[i % 16] = chain<real>(p, x[i], x[i], lane[i % 16]);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return double(lane[0]);
}

OptimizerOptions adamw_options() {
  return {.kind = OptimizerKind::adamw, .beta1 = 0.85, .beta2 = 0.99, .weight_decay = 0.1, .clip = 0.75};
}
OptimizerOptions sgd_options() {
  return {.kind = OptimizerKind::sgd, .weight_decay = 0.1, .momentum = 0.9, .clip = 0.75};
}

/// Calls f(updates, float()) and f(updates, double()) for all that run here.
template <class F>
void everywhere(F f) {
  for (const Updates* u : all_updates()) {
    f(*u, float());
    f(*u, double());
  }
}

template <class real>
void check_same(const Updates& u, const Tensors<real>& a, const Tensors<real>& b, int workers) {
  char line[160];
  std::snprintf(line, sizeof line, "%s, %d bytes, %d elements, %d workers, seed %d", u.name,
                int(sizeof(real)), int(a.count), workers, kSeed);
  CHECK_TEXT(same_bits(a.w, b.w), line);
  CHECK_TEXT(same_bits(a.m, b.m), line);
  CHECK_TEXT(same_bits(a.v, b.v), line);
}

template <class real>
bool subnormal(const std::vector<real>& x) {
  return std::any_of(x.begin(), x.end(), [](real e) { return std::fpclassify(e) == FP_SUBNORMAL; });
}

/// Five weights, six steps, gradients ((7 i + 3 t) mod 11 - 5) / 8, clipped to norm 0.75: the same in
/// PyTorch 1.13 in double with clip_grad_norm_ and
///   AdamW(lr=0.03, betas=(0.85, 0.99), eps=1e-8, weight_decay=0.1), SGD(lr=0.03, momentum=0.9,
///   weight_decay=0.1)
template <class real, class Step>
void six_steps(const Updates& u, const OptimizerOptions& o, Tensors<real>& t, Step step) {
  for (int i = 0; i < 5; ++i)
    t.w[std::size_t(i)] = real(0.5 - 0.25 * i), t.m[std::size_t(i)] = 0, t.v[std::size_t(i)] = 0;
  for (int n = 0; n < 6; ++n) {
    for (int i = 0; i < 5; ++i) t.g[std::size_t(i)] = real(((7 * i + 3 * n) % 11 - 5) / 8.0);
    double block = 0;
    u.of<real>().sum_squares(t.gradient(), 5, &block, Worker{});
    step(clip_scale(gradient_norm(&block, 1), o.clip));
  }
}

}  // namespace

TEST_GROUP(Optimizer) {
  std::mt19937_64 random{kSeed};
};

TEST(Optimizer, AdamWFollowsTheWrittenOrderOnEveryInstructionSet) {
  everywhere([&]<class real>(const Updates& u, real) {
    for (const std::int64_t count : kCounts) {
      for (int workers = 1; workers <= 3; ++workers) {
        Tensors<real> t(count, int(count % 4), random), expected = t;
        const OptimizerOptions o = adamw_options();
        BetaPowers powers;
        for (int n = 0; n < 3; ++n) {
          powers = powers.next(o);
          const AdamWStep<real> step = adamw_step<real>(o, 0.03, powers, 0.37, count % 2 == 0);
          run_adamw(u, t, step, workers);
          written_adamw(u.profile, expected, step);
        }
        check_same(u, expected, t, workers);
      }
    }
  });
}

TEST(Optimizer, SgdFollowsTheWrittenOrderOnEveryInstructionSet) {
  everywhere([&]<class real>(const Updates& u, real) {
    for (const std::int64_t count : kCounts) {
      for (int workers = 1; workers <= 3; ++workers) {
        Tensors<real> t(count, int(count % 4), random), expected = t;
        OptimizerOptions o = sgd_options();
        if (count % 3 == 0) o.momentum = 0;
        const SgdStep<real> step(o, 0.03, 0.37, count % 2 == 0);
        for (int n = 0; n < 3; ++n) {
          run_sgd(u, t, step, workers);
          written_sgd(u.profile, expected, step);
        }
        check_same(u, expected, t, workers);
      }
    }
  });
}

TEST(Optimizer, SumsOfSquaresFollowTheWrittenOrderBlockByBlock) {
  everywhere([&]<class real>(const Updates& u, real) {
    for (const std::int64_t count : kCounts) {
      const std::int64_t blocks = norm_blocks(count);
      for (int workers = 1; workers <= 3; ++workers) {
        Tensors<real> t(count, int(count % 4), random);
        std::vector<double> sums(std::size_t(blocks) + 1, -1);
        for (int i = 0; i < workers; ++i) {
          u.of<real>().sum_squares(t.gradient(), count, sums.data(), Worker{i, workers});
        }
        for (std::int64_t b = 0; b < blocks; ++b) {
          const std::int64_t n = std::min(kNormBlock, count - b * kNormBlock);
          CHECK(written_sum_squares(u.profile, t.gradient() + b * kNormBlock, n) == sums[std::size_t(b)]);
        }
        CHECK(sums.back() == -1);
      }
    }
  });
}

TEST(Optimizer, NormAddsTheBlocksInOrder) {
  const double sums[] = {1, 0x1p-53, 0x1p-53, 3};
  CHECK(gradient_norm(sums, 4) == 2);  // from the other end it would be above 2
  CHECK(gradient_norm(sums, 0) == 0);
}

TEST(Optimizer, AdamWGivesPyTorchsNumbers) {
  constexpr double expected[] = {0.5737414118694293, 0.16557043989319842, 0.02805271350810623,
                                 -0.2852244106956871, -0.5544887156217667};
  everywhere([&]<class real>(const Updates& u, real) {
    const OptimizerOptions o = adamw_options();
    Tensors<real> t(5, 0, random);
    BetaPowers powers;
    six_steps<real>(u, o, t, [&](double scale) {
      powers = powers.next(o);
      run_adamw(u, t, adamw_step<real>(o, 0.03, powers, scale, true));
    });
    // Six steps of at most 0.03 and some ten roundings each, of numbers below 1.
    const double tolerance = 32 * double(std::numeric_limits<real>::epsilon());
    for (int i = 0; i < 5; ++i) DOUBLES_EQUAL(expected[i], double(t.w[std::size_t(i)]), tolerance);
  });
}

TEST(Optimizer, SgdGivesPyTorchsNumbers) {
  constexpr double expected[2][5] = {{0.5184197558853203, 0.24493203673710023, 9.800861934046358e-19,
                                      -0.24493203673710026, -0.5184197558853202},
                                     {0.5420635091717756, 0.18138704267024106, 0.004672317436113199,
                                      -0.2608045641640023, -0.5054759281857962}};
  everywhere([&]<class real>(const Updates& u, real) {
    for (const bool momentum : {false, true}) {
      OptimizerOptions o = sgd_options();
      if (!momentum) o.momentum = 0, o.weight_decay = 0;
      Tensors<real> t(5, 0, random);
      six_steps<real>(u, o, t, [&](double scale) { run_sgd(u, t, SgdStep<real>(o, 0.03, scale, true)); });
      const double tolerance = 8 * double(std::numeric_limits<real>::epsilon());
      for (int i = 0; i < 5; ++i)
        DOUBLES_EQUAL(expected[momentum][i], double(t.w[std::size_t(i)]), tolerance);
    }
  });
}

TEST(Optimizer, FirstStepOfMomentumIsTheGradient) {
  OptimizerOptions o = sgd_options();
  o.weight_decay = 0;
  everywhere([&]<class real>(const Updates& u, real) {
    Tensors<real> t(37, 0, random);
    std::fill(t.m.begin(), t.m.end(), real(0));
    run_sgd(u, t, SgdStep<real>(o, 0.03, 1, true));
    CHECK(same_bits(t.m, t.g));
  });
}

TEST(Optimizer, OnlyTensorsThatDecayShrink) {
  everywhere([&]<class real>(const Updates& u, real) {
    for (const bool decays : {false, true}) {
      Tensors<real> t(21, 0, random);
      for (auto* x : {&t.g, &t.m, &t.v}) std::fill(x->begin(), x->end(), real(0));
      Tensors<real> s = t;
      const std::vector<real> before = t.w;
      run_adamw(u, t, adamw_step<real>(adamw_options(), 0.5, BetaPowers{}.next(adamw_options()), 1, decays));
      run_sgd(u, s, SgdStep<real>(sgd_options(), 0.5, 1, decays));
      for (std::size_t i = 0; i < before.size(); ++i) {
        const real factor = decays ? real(1 - 0.5 * 0.1) : real(1);
        CHECK(t.w[i] == before[i] * factor);
        DOUBLES_EQUAL(double(before[i] * factor), double(s.w[i]),
                      4 * double(std::numeric_limits<real>::epsilon()));
      }
    }
  });
}

TEST(Optimizer, AMillionStepsWithoutGradientLeaveNothingSubnormal) {
  OptimizerOptions adamw = adamw_options(), sgd = sgd_options();
  adamw.weight_decay = sgd.weight_decay = 0.5;
  const auto check = [&]<class real>(const Updates& u, real) {
    Tensors<real> t(5, 0, random), s = t;
    std::fill(t.g.begin(), t.g.end(), real(0));
    std::fill(s.g.begin(), s.g.end(), real(0));
    BetaPowers powers;
    bool found = false;
    for (int n = 0; n < 1'000'000; ++n) {
      powers = powers.next(adamw);
      run_adamw(u, t, adamw_step<real>(adamw, 0.01, powers, 1, true));
      run_sgd(u, s, SgdStep<real>(sgd, 0.01, 1, true));
      for (const auto* x : {&t.w, &t.m, &t.v, &s.w, &s.m}) found = found || subnormal(*x);
    }
    CHECK_FALSE(found);
    CHECK(powers.beta1 == 0);
    CHECK(powers.beta2 == 0);
    for (const auto* x : {&t.w, &t.m, &t.v, &s.w, &s.m}) {
      CHECK(std::all_of(x->begin(), x->end(), [](real e) { return e == 0; }));
    }
  };
  check(*all_updates().back(), float());
  check(*all_updates().back(), double());
}

TEST(Optimizer, MomentsBelowTheFloorAreZeroAndOthersStay) {
  OptimizerOptions o = adamw_options();
  o.beta1 = o.beta2 = 0.5;
  everywhere([&]<class real>(const Updates& u, real) {
    Tensors<real> t(2, 0, random);
    t.w = {real(0x1p-110), real(0x1p-110)};
    t.g = {real(0), real(0)};
    t.m = {real(-0x1p-99), real(-0x1.fffffep-100)};
    t.v = {real(0x1p-99), real(0x1.fffffep-100)};
    run_adamw(u, t, adamw_step<real>(o, 0, BetaPowers{}.next(o), 1, false));
    CHECK(t.m[0] == -real(kMomentFloor));
    CHECK(t.v[0] == real(kMomentFloor));
    CHECK(t.m[1] == 0);
    CHECK(t.v[1] == 0);
    CHECK(t.w[0] == real(0x1p-110));  // does not decay: left alone
  });
}

TEST(Optimizer, ClippingScalesAsPyTorchDoes) {
  CHECK(clip_scale(2, 0) == 1);
  CHECK(clip_scale(0.5, 1) == 1);
  CHECK(clip_scale(4, 1) == 1 / (4 + 1e-6));
  CHECK(clip_scale(1, 1) == 1 / (1 + 1e-6));  // at the limit already
  CHECK(clip_scale(0, 1) == 1);
}

TEST(Optimizer, ANonFiniteGradientShowsInTheNorm) {
  everywhere([&]<class real>(const Updates& u, real) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (const std::int64_t at : {0, 16, 4999, 5002}) {
        Tensors<real> t(5003, 0, random);
        t.g[std::size_t(at)] = real(bad);
        double sums[2];
        u.of<real>().sum_squares(t.gradient(), 5003, sums, Worker{});
        CHECK_FALSE(std::isfinite(gradient_norm(sums, 2)));
      }
    }
  });
}

TEST(Optimizer, NonsenseIsNamed) {
  const auto check = [](void (*spoil)(OptimizerOptions&), const char* text) {
    OptimizerOptions o = adamw_options();
    spoil(o);
    STRCMP_EQUAL(text, fault_of(o));
  };
  CHECK(fault_of(adamw_options()) == nullptr);
  CHECK(fault_of(sgd_options()) == nullptr);
  CHECK(fault_of(OptimizerOptions{}) == nullptr);
  check([](auto& o) { o.beta1 = 1; }, "both betas must lie in [0, 1)");
  check([](auto& o) { o.beta2 = -0.1; }, "both betas must lie in [0, 1)");
  check([](auto& o) { o.beta2 = std::nan(""); }, "both betas must lie in [0, 1)");
  check([](auto& o) { o.epsilon = 1e-16; }, "epsilon must be finite and at least 1e-15");
  check([](auto& o) { o.epsilon = std::nan(""); }, "epsilon must be finite and at least 1e-15");
  check([](auto& o) { o.weight_decay = -1; }, "the weight decay must be finite and not negative");
  check([](auto& o) { o.clip = std::nan(""); }, "the clipping norm must be finite and not negative");
  check([](auto& o) { o.kind = OptimizerKind::sgd, o.momentum = 1; }, "the momentum must lie in [0, 1)");
}
