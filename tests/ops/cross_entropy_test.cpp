#include "tests/ops/head_cases.hpp"
#include "tests/ops/loss_checks.hpp"

using namespace thimble_test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_GROUP(CrossEntropy){};

TEST(CrossEntropy, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  CrossEntropyCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(CrossEntropy, TakesAVocabularyOf50257) {
  Problem p = problem_of<LargeCrossEntropyCase>();
  p.ids[1][0] = 50256;
  check_plainly(p);
}

TEST(CrossEntropy, TheGradientMatchesDifferences) {
  CrossEntropyCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(CrossEntropy, MatchesTorch) {
  check_golden(problem_of<CrossEntropyCase<17>>({1, 6}), "cross_entropy.v17", {"logits", "targets"});
  check_golden(problem_of<CrossEntropyCase<17>>({1, 6}), "cross_entropy.ignored", {"logits", "targets"});
  check_golden(problem_of<CrossEntropyCase<5>>({1, 3}), "cross_entropy.large", {"logits", "targets"});
}

TEST(CrossEntropy, IgnoredTargetsCountNothing) {
  check_ignored_rows(problem_of<CrossEntropyCase<27>>(), 1);
  check_all_ignored(problem_of<CrossEntropyCase<27>>(), 1);
}

TEST(CrossEntropy, TheFirstAndTheLastSymbolAreTargetsLikeOthers) {
  check_outermost_targets(problem_of<CrossEntropyCase<17>>(), 1, 17);
  check_outermost_targets(problem_of<CrossEntropyCase<65>>(), 1, 65);
}

TEST(CrossEntropy, ForwardGivesTheLossesOfBackward) {
  CrossEntropyCases::each([]<class Case> {
    const Problem p = problem_of<Case>();
    each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
      detail::expect_same(p.name + " " + i.name, "out", Runner<real>(p, {}).run_forward(i.kernels),
                          thimble_test::run(p, i.kernels).out);
    });
  });
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  for (const double size : {1e4, 1e30, -1e4, -1e30}) {
    Problem p = problem_of<CrossEntropyCase<27>>();
    for (std::size_t i = 0; i < p.values[0].size(); i += 5) p.values[0][i] = float(size);
    check_kernels(p);
  }
  Problem p = problem_of<CrossEntropyCase<5>>({1, 1});
  p.values[0] = {3e38f, -3e38f, 0, 0, 0};
  p.ids[1] = {0};
  each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
    const Result<real> r = thimble_test::run(p, i.kernels);
    CHECK(r.out[0] == 0);
    for (const real g : r.gradients[0]) CHECK(g == 0);
  });
}

TEST(CrossEntropy, MinusInfinityIsASymbolThatCannotBe) {
  Problem p = problem_of<CrossEntropyCase<17>>({1, 2});
  p.values[0][3] = -kInfinity;
  p.ids[1] = {4, 4};
  check_kernels(p);
  p.ids[1] = {3, 4};  // a target that cannot be has an infinite loss
  check_kernels(p);
}

TEST(CrossEntropy, NanAndPlusInfinitySpoilTheirRowAlone) {
  for (const double bad : {kNan, kInfinity}) {
    for (const int column : {0, 15, 16, 64, 100, 299}) {
      Problem p = problem_of<CrossEntropyCase<300>>({1, 3});
      p.values[0][std::size_t(300 + column)] = bad;
      check_kernels(p);
      each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
        const Result<real> r = thimble_test::run(p, i.kernels);
        CHECK(std::isfinite(r.out[0]) && std::isnan(r.out[1]) && std::isfinite(r.out[2]));
      });
    }
  }
}

TEST(CrossEntropy, DecodingPassesTheLogitsOn) {
  const Problem p = problem_of<CrossEntropyCase<65>>({1, 1});
  LONGS_EQUAL(65, p.value().decode_cols);
  each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
    for (int workers = 1; workers <= 3; ++workers) {
      const std::vector<real> logits(p.values[0].begin(), p.values[0].begin() + 65);
      Guarded<real> out(65, 0);
      thimble::Call<real> c;
      c.out = out.data();
      c.operands[0] = logits.data();
      c.extent = {1, 1};
      c.rows = 1;
      run_workers(i.kernels.decode, c, workers);
      detail::expect_same(i.name, "out", out.first(65), logits);
      CHECK(out.untouched_beyond(65));
    }
  });
}

TEST(CrossEntropy, CostsFourOperationsALogitForwardAndFiveBackward) {
  const auto f = thimble::CrossEntropy::flops(value_of<CrossEntropyCase<27>>, {3, 7});
  LONGS_EQUAL(4 * 21 * 27, f.forward);
  LONGS_EQUAL(5 * 21 * 27, f.backward);
}
