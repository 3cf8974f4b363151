#include "tests/ops/head_cases.hpp"
#include "tests/ops/loss_checks.hpp"

using namespace thimble_test;

namespace {

/// Head, then cross-entropy, on the numbers of a fused problem.
template <class real, class HeadOf, class LossOf>
Result<real> unfused(const Problem& fused, std::size_t implementation) {
  Problem head = problem_of<HeadOf>(fused.run), loss = problem_of<LossOf>(fused.run);
  head.values[0] = fused.values[0];
  head.values[1] = fused.values[1];
  const auto head_kernels = implementations_of<real>(head)[implementation].kernels;
  const std::vector<real> logits = Runner<real>(head, {}).run_forward(head_kernels);
  loss.values[0].assign(logits.begin(), logits.end());
  loss.ids[1] = fused.ids[2];
  Result<real> r = thimble_test::run(loss, implementations_of<real>(loss)[implementation].kernels);
  head.d_out.assign(r.gradients[0].begin(), r.gradients[0].end());
  r.gradients = thimble_test::run(head, head_kernels).gradients;
  return r;
}

/// Losses and dx have the bits of the two ops, and so has d_table where `same_table`.
template <int V, int C, int kTileRows, int kContext>
void check_unfused(bool same_table) {
  const Problem fused = problem_of<HeadCrossEntropyCase<V, C, kTileRows, kContext>>();
  bool differs = false;
  const auto check = [&]<class real>(real) {
    const auto implementations = implementations_of<real>(fused);
    for (std::size_t i = 0; i < implementations.size(); ++i) {
      const std::string where = fused.name + " unfused " + implementations[i].name;
      const auto expected = unfused<real, HeadCase<V, C, kContext>, CrossEntropyCase<V, kContext>>(fused, i);
      const Result<real> r = thimble_test::run(fused, implementations[i].kernels);
      detail::expect_same(where, "loss", r.out, expected.out);
      detail::expect_same(where, "dx", r.gradients[0], expected.gradients[0]);
      if (same_table) detail::expect_same(where, "d_table", r.gradients[1], expected.gradients[1]);
      differs = differs || r.gradients[1] != expected.gradients[1];
    }
  };
  check(float());
  check(double());
  CHECK(differs != same_table);
}

}  // namespace

TEST_GROUP(HeadCrossEntropy){};

TEST(HeadCrossEntropy, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  HeadCrossEntropyCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(HeadCrossEntropy, TakesAVocabularyOf50257) {
  Problem p = problem_of<LargeHeadCrossEntropyCase>();
  p.ids[2][0] = 50256;
  check_plainly(p);
}

TEST(HeadCrossEntropy, TheGradientMatchesDifferences) {
  HeadCrossEntropyCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(HeadCrossEntropy, MatchesTorch) {
  check_golden(problem_of<HeadCrossEntropyCase<17, 8, 4>>({1, 6}), "head_loss.ignored",
               {"x", "weight", "targets"});
}

TEST(HeadCrossEntropy, IgnoredTargetsCountNothing) {
  check_ignored_rows(problem_of<HeadCrossEntropyCase<27, 16, 1>>(), 2);
  check_ignored_rows(problem_of<HeadCrossEntropyCase<65, 15, 7>>(), 2);
  check_all_ignored(problem_of<HeadCrossEntropyCase<65, 15, 7>>(), 2);
}

TEST(HeadCrossEntropy, TheFirstAndTheLastSymbolAreTargetsLikeOthers) {
  check_outermost_targets(problem_of<HeadCrossEntropyCase<17, 8, 4>>(), 2, 17);
}

TEST(HeadCrossEntropy, ForwardGivesTheLossesOfBackward) {
  HeadCrossEntropyCases::each([]<class Case> {
    const Problem p = problem_of<Case>();
    each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
      for (int workers = 1; workers <= 3; ++workers) {
        detail::expect_same(p.name + " " + i.name, "out",
                            Runner<real>(p, {.workers = workers}).run_forward(i.kernels),
                            thimble_test::run(p, i.kernels).out);
      }
    });
  });
}

TEST(HeadCrossEntropy, LargeLogitsDoNotOverflow) {
  Problem p = problem_of<HeadCrossEntropyCase<17, 8, 4>>();
  for (double& x : p.values[0]) x = float(x * 1e4);
  each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
    const Result<real> r = thimble_test::run(p, i.kernels);
    for (const real loss : r.out) CHECK(std::isfinite(loss) && loss >= 0);
    for (const auto& gradient : r.gradients) {
      for (const real g : gradient) CHECK(std::isfinite(g));
    }
  });
}

TEST(HeadCrossEntropy, NanSpoilsTheLossOfItsRowAlone) {
  Problem p = problem_of<HeadCrossEntropyCase<65, 15, 7>>();
  p.values[0][2 * 15 + 3] = std::numeric_limits<double>::quiet_NaN();
  each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
    const Result<real> r = thimble_test::run(p, i.kernels);
    for (std::size_t row = 0; row < r.out.size(); ++row) CHECK(std::isnan(r.out[row]) == (row == 2));
    for (std::size_t c = 0; c < r.gradients[0].size(); ++c) {
      CHECK(std::isnan(r.gradients[0][c]) == (c / 15 == 2));
    }
    CHECK(std::isnan(r.gradients[1][0]));
  });
}

TEST(HeadCrossEntropy, HasTheBitsOfHeadThenCrossEntropy) {
  check_unfused<11, 6, 10, 5>(true);      // one tile
  check_unfused<300, 35, 64, 5>(true);    // room for more than there is
  check_unfused<19, 17, 256, 140>(true);  // tiles of kSumBlock
}

TEST(HeadCrossEntropy, OtherTilesChangeTheOrderOfTheTablesGradientAlone) {
  check_unfused<17, 8, 4, 5>(false);
  check_unfused<65, 15, 7, 5>(false);
}

TEST(HeadCrossEntropy, TheTablesGradientTakesOneTileAfterTheOther) {
  constexpr int V = 65, C = 15, kTileRows = 7;
  const Problem fused = problem_of<HeadCrossEntropyCase<V, C, kTileRows>>();
  const auto check = [&]<class real>(real) {
    const auto implementations = implementations_of<real>(fused);
    for (std::size_t i = 0; i < implementations.size(); ++i) {
      const Result<real> r = thimble_test::run(fused, implementations[i].kernels);
      std::vector<double> sum;
      for (int first = 0; first < 10; first += kTileRows) {
        const int rows = first + kTileRows < 10 ? kTileRows : 10 - first;
        Problem tile = problem_of<HeadCrossEntropyCase<V, C, kTileRows>>({1, rows});
        const auto x = fused.values[0].begin() + first * C;
        tile.values[0].assign(x, x + rows * C);
        tile.values[1] = fused.values[1];
        tile.ids[2].assign(fused.ids[2].begin() + first, fused.ids[2].begin() + first + rows);
        tile.old_gradients[0].assign(std::size_t(rows * C), 0);
        tile.old_gradients[1] = sum;
        const Result<real> t = thimble_test::run(tile, implementations[i].kernels, {.accumulate = first > 0});
        sum.assign(t.gradients[1].begin(), t.gradients[1].end());
      }
      const std::vector<real> expected(sum.begin(), sum.end());
      detail::expect_same(implementations[i].name, "d_table", r.gradients[1], expected);
    }
  };
  check(float());
  check(double());
}

TEST(HeadCrossEntropy, DecodingGivesTheLogitsOfTheHead) {
  const Problem fused = problem_of<HeadCrossEntropyCase<300, 35, 64>>({1, 1});
  Problem head = problem_of<HeadCase<300, 35>>({1, 1});
  head.values = fused.values;
  LONGS_EQUAL(300, fused.value().decode_cols);
  const auto check = [&]<class real>(real) {
    const auto implementations = implementations_of<real>(fused);
    for (std::size_t i = 0; i < implementations.size(); ++i) {
      const auto expected = Runner<real>(head, {}).run_forward(implementations_of<real>(head)[i].kernels);
      const std::vector<real> x(fused.values[0].begin(), fused.values[0].end());
      const std::vector<real> table(fused.values[1].begin(), fused.values[1].end());
      for (int workers = 1; workers <= 3; ++workers) {
        Guarded<real> out(300, 0);
        const std::int64_t bytes =
            fused.scratch_bytes(fused.value(), StepKind::decode,
                                {.extent = fused.most, .workers = 3, .real_bytes = int(sizeof(real))});
        Guarded<real> scratch(std::size_t(bytes) / sizeof(real), 0);
        thimble::Call<real> c;
        c.out = out.data();
        c.operands[0] = x.data();
        c.operands[1] = table.data();
        c.scratch = bytes > 0 ? scratch.data() : nullptr;
        c.extent = {1, 1};
        c.rows = 1;
        run_workers(implementations[i].kernels.decode, c, workers);
        detail::expect_same(implementations[i].name, "out", out.first(300), expected);
        CHECK(out.untouched_beyond(300) && scratch.untouched_beyond(scratch.size()));
      }
    }
  };
  check(float());
  check(double());
}

TEST(HeadCrossEntropy, TheInnerGradientIsThatOfTheLogits) {
  Problem fused = problem_of<HeadCrossEntropyCase<17, 8, 4>>();
  fused.ids[2][3] = thimble::kIgnoredTarget;
  Problem head = problem_of<HeadCase<17, 8>>(), loss = problem_of<CrossEntropyCase<17>>();
  head.values = fused.values;
  loss.values[0] = Runner<double>(head, {}).run_forward(head.reference);
  loss.ids[1] = fused.ids[2];
  const std::vector<double> expected = thimble_test::run(loss, loss.reference).gradients[0];
  std::vector<double> d_logits(expected.size());
  thimble::Call<double> c;
  c.operands[0] = fused.values[0].data();
  c.operands[1] = fused.values[1].data();
  c.operands[2] = fused.ids[2].data();
  c.extent = fused.run;
  c.rows = 10;
  thimble::head_inner_gradient(c, fused.value().dims, d_logits.data());
  detail::expect_same(fused.name, "d_logits", d_logits, expected);
}

TEST(HeadCrossEntropy, ScratchDependsOnTheTileAndNotOnTheNumberOfTokens) {
  const Value& v = value_of<HeadCrossEntropyCase<65, 15, 7>>;
  const auto bytes = [&](int tokens) {
    return thimble::HeadCrossEntropy::scratch_bytes(v, StepKind::backward, {.extent = {1, tokens}});
  };
  CHECK(bytes(7) >= 7 * 65 * 4);
  LONGS_EQUAL(bytes(7), bytes(8));
  LONGS_EQUAL(bytes(7), bytes(100000));
  CHECK(bytes(1) < bytes(7));
}

TEST(HeadCrossEntropy, CostsWhatHeadAndCrossEntropyCost) {
  const auto f = thimble::HeadCrossEntropy::flops(value_of<HeadCrossEntropyCase<27, 16, 1>>, {3, 7});
  const auto h = thimble::Head::flops(value_of<HeadCase<27, 16>>, {3, 7});
  const auto c = thimble::CrossEntropy::flops(value_of<CrossEntropyCase<27>>, {3, 7});
  LONGS_EQUAL(h.forward + c.forward, f.forward);
  LONGS_EQUAL(h.forward + h.backward + c.backward, f.backward);
}
