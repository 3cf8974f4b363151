#include <limits>

#include "tests/ops/attention_cases.hpp"
#include "tests/ops/attention_order.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_GROUP(Attention){};

TEST(Attention, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  AttentionCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Attention, EverySequenceLengthHasTheSameBitsEverywhere) {
  for (const int context : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 17, 31, 33, 65}) {
    check_kernels(problem_of<AttentionCase<16, 4, 16, 2>>({1, context}, std::uint64_t(context)));
  }
  for (const int context : {2, 31, 33, 97}) {
    check_kernels(problem_of<AttentionCase<48, 3, 64, 2>>({1, context}, std::uint64_t(context)));
  }
}

template <class real>
void check_order(const Problem& p, const Implementation<real>& implementation) {
  for (const bool adds : {false, true}) {
    const auto got = thimble_test::run(p, implementation.kernels, {.workers = 2, .accumulate = adds});
    const auto want = implementation.profile == thimble::Profile::fused
                          ? AttentionInOrder<thimble::Profile::fused, real>(p, adds).result
                          : AttentionInOrder<thimble::Profile::separate, real>(p, adds).result;
    thimble_test::detail::expect_same(p.name + " " + implementation.name + " in the written order", got,
                                      want);
  }
}

TEST(Attention, SumsAreInTheWrittenOrder) {
  AttentionCases::each([]<class Case> {
    const Problem p = problem_of<Case>();
    for (const auto& i : implementations_of<float>(p)) check_order(p, i);
    for (const auto& i : implementations_of<double>(p)) check_order(p, i);
  });
}

TEST(Attention, TheGradientMatchesDifferences) {
  check_gradient<AttentionCase<3, 3, 9, 2>>();
  check_gradient<AttentionCase<4, 2, 5>>();
  check_gradient<AttentionCase<12, 3, 17, 3>>();
}

TEST(Attention, DecodingGivesTheBitsOfForward) {
  AttentionCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Attention, MatchesTorch) {
  check_golden(problem_of<AttentionCase<4, 2, 5>>({1, 1}), "attention.t1", {"qkv"});
  check_golden(problem_of<AttentionCase<12, 3, 17, 3>>({2, 5}), "attention.t5_h3", {"qkv"});
  check_golden(problem_of<AttentionCase<3, 1, 200>>({1, 18}), "attention.t18_h1", {"qkv"});
}

template <class real>
void check_causal(const Problem& before, const Problem& after, int token) {
  const auto befores = implementations_of<real>(before);
  for (const auto& i : befores) {
    const auto a = thimble_test::run(before, i.kernels), b = thimble_test::run(after, i.kernels);
    const std::string where = before.name + " " + i.name + ", token " + std::to_string(token) + " changed";
    const std::size_t cols = std::size_t(before.value().shape.cols), n = std::size_t(token);
    const auto first = [](std::vector<real> x, std::size_t count) {
      x.resize(count);
      return x;
    };
    thimble_test::detail::expect_same(where, "out", first(b.out, n * cols), first(a.out, n * cols));
    CHECK(std::isnan(b.out[n * cols]) || b.out[n * cols] != a.out[n * cols]);
    for (std::size_t t = 0; t < n; ++t) {  // the queries' gradients
      for (std::size_t c = 0; c < cols; ++c) {
        if (b.gradients[0][t * 3 * cols + c] != a.gradients[0][t * 3 * cols + c]) FAIL(where.c_str());
      }
    }
  }
}

/// Also where it is not a number: masked pairs take no part, they are not multiplied by zero.
TEST(Attention, ALaterTokenReachesNoEarlierOne) {
  for (const double value : {0.25, kNaN, kInfinity}) {
    for (const int token : {1, 5, 16, 31, 40, 63}) {
      const Problem before = problem_of<AttentionCase<48, 3, 64, 2>>({1, 64});
      Problem after = before;
      for (std::size_t c = 0; c < 3 * 48; ++c) after.values[0][std::size_t(token) * 3 * 48 + c] = value;
      for (std::size_t c = 0; c < 48; ++c) after.d_out[std::size_t(token) * 48 + c] = value;
      check_causal<float>(before, after, token);
      check_causal<double>(before, after, token);
    }
  }
}

TEST(Attention, SequencesDoNotReachEachOther) {
  const Problem before = problem_of<AttentionCase<12, 3, 17, 3>>();
  Problem after = before;
  for (std::size_t i = 17 * 36; i < 2 * 17 * 36; ++i) after.values[0][i] = kNaN;
  for (const auto& i : implementations_of<float>(before)) {
    auto a = thimble_test::run(before, i.kernels), b = thimble_test::run(after, i.kernels);
    for (auto* r : {&a, &b}) {  // without the second sequence
      r->out.erase(r->out.begin() + 17 * 12, r->out.begin() + 2 * 17 * 12);
      r->gradients[0].erase(r->gradients[0].begin() + 17 * 36, r->gradients[0].begin() + 2 * 17 * 36);
      r->saved.clear();
    }
    thimble_test::detail::expect_same(i.name, b, a);
  }
}

TEST(Attention, ANonFiniteNumberSpoilsWhatReadsIt) {
  for (const double value : {kNaN, kInfinity, -kInfinity}) {
    Problem p = problem_of<AttentionCase<6, 2, 33, 2>>();
    p.values[0][20 * 18 + 7] = value;  // a key of head 0
    check_kernels(p);
  }
}

TEST(Attention, LargeScoresNeitherOverflowNorVanish) {
  Problem p = problem_of<AttentionCase<16, 2, 65>>();
  for (double& x : p.values[0]) x = float(x * 40);  // scores to some thousands
  const auto r = thimble_test::run(p, p.reference);
  for (const double y : r.out) CHECK(std::isfinite(y));
  for (const auto& i : implementations_of<float>(p)) {
    check_order(p, i);
    for (const float y : thimble_test::run(p, i.kernels).out) CHECK(std::isfinite(y));
  }
}

/// What passes at the scores and at the probabilities, as torch's autograd has it with a mask before the
/// softmax.
TEST(Attention, InnerGradientsAgreeWithTheOuterOnes) {
  const Problem p = problem_of<AttentionCase<4, 2, 5>>();
  const int T = 5, C = 4, H = 2, D = 2;
  const auto r = thimble_test::run(p, p.reference);
  std::vector<double> out = r.out, saved = r.saved;
  thimble::Call<double> call;
  call.out = out.data();
  call.saved = saved.data();
  call.d_out = p.d_out.data();
  call.operands[0] = p.values[0].data();
  call.extent = p.run;
  call.rows = T;
  std::vector<double> d_scores(std::size_t(H * T * T)), d_probs(d_scores.size());
  thimble::attention_inner_gradients(call, p.value().dims, d_scores.data(), d_probs.data());
  for (int h = 0; h < H; ++h) {
    for (int i = 0; i < T; ++i) {
      double d_q = 0, of_row = 0;
      for (int j = 0; j < T; ++j) {
        const auto at = std::size_t((h * T + i) * T + j);
        double of_probability = 0;
        for (int d = 0; d < D; ++d) {
          of_probability +=
              p.d_out[std::size_t(i * C + h * D + d)] * p.values[0][std::size_t((j * 3 + 2) * C + h * D + d)];
        }
        DOUBLES_EQUAL(of_probability, d_probs[at], 1e-14);  // masked or not
        if (j > i) CHECK(d_scores[at] == 0);
        d_q += d_scores[at] * p.values[0][std::size_t((j * 3 + 1) * C + h * D)] / std::sqrt(double(D));
        of_row += d_scores[at];
      }
      DOUBLES_EQUAL(r.gradients[0][std::size_t(i * 3 * C + h * D)], d_q, 1e-14);
      DOUBLES_EQUAL(0, of_row, 1e-14);  // softmax does not see a shift of its row
    }
  }
}

using Microgpt = AttentionCase<16, 4, 16>;
using Small = AttentionCase<32, 4, 64>;
using Large = AttentionCase<64, 1, 130>;

template <class Case>
std::int64_t scratch_bytes(StepKind kind, int context = Case::extent.context) {
  return Case::Op::scratch_bytes(value_of<Case>, kind, {.extent = {1, context}});
}

TEST(Attention, BoardModelsNeedLittleScratch) {
  LONGS_EQUAL(1408, scratch_bytes<Microgpt>(StepKind::forward));
  LONGS_EQUAL(2240, scratch_bytes<Microgpt>(StepKind::backward));
  LONGS_EQUAL(1408, scratch_bytes<Microgpt>(StepKind::decode));
  LONGS_EQUAL(4736, scratch_bytes<Small>(StepKind::forward));
  LONGS_EQUAL(3264, scratch_bytes<Small>(StepKind::backward));
}

/// A run may be shorter than the plan's longest, and is then laid out by its own length.
TEST(Attention, ScratchNeverShrinksWithLongerSequences) {
  for (const StepKind kind : {StepKind::forward, StepKind::backward, StepKind::decode}) {
    for (int context = 2; context <= 200; ++context) {
      CHECK(scratch_bytes<Microgpt>(kind, context) >= scratch_bytes<Microgpt>(kind, context - 1));
      CHECK(scratch_bytes<Large>(kind, context) >= scratch_bytes<Large>(kind, context - 1));
    }
  }
}

TEST(Attention, CountsTheOperationsOfTheTriangle) {
  const Problem p = problem_of<AttentionCase<12, 3, 17, 3>>();
  const thimble::Flops f = thimble::Attention::flops(p.value(), {3, 17});
  const std::int64_t pairs = 3 * 3 * 17 * 18 / 2, rows = 3 * 3 * 17;  // D = 4
  LONGS_EQUAL(pairs * (2 * 4 + 4 + 2 * 4) + rows * 5, f.forward);
  LONGS_EQUAL(pairs * (5 * 2 * 4 + 6) + rows * 16, f.backward);
}

}  // namespace
