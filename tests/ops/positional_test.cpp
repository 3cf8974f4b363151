#include <limits>

#include "tests/ops/op_test.hpp"
#include "tests/ops/token_cases.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Positional){};

TEST(Positional, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  PositionalCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Positional, TheGradientMatchesDifferences) {
  PositionalCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Positional, DecodingGivesTheBitsOfForward) {
  PositionalCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Positional, PlacesBeyondTheContextGetAGradientOfZero) {
  const Problem p = problem_of<PositionalCase<9, 17>>({2, 3});
  for (const auto& i : implementations_of<float>(p)) {
    const auto r = thimble_test::run(p, i.kernels, {.workers = 2});
    for (std::size_t j = 3 * 17; j < 9 * 17; ++j) CHECK_EQUAL(0.0f, r.gradients[1][j]);
  }
}

TEST(Positional, WithEmbeddingMatchesTorch) {
  Problem tokens = problem_of<EmbeddingCase<7, 6>>({2, 5});
  tokens.ids[0] = golden_ids("embedding.b2_t5.tokens");
  tokens.values[1] = golden("embedding.b2_t5.wte");
  Problem places = problem_of<PositionalCase<8, 6>>({2, 5});
  places.values[1] = golden("embedding.b2_t5.wpe");
  tokens.d_out = places.d_out = golden("embedding.b2_t5.dy");
  const auto want_y = golden("embedding.b2_t5.y");
  const auto want_wte = golden("embedding.b2_t5.dwte");
  const auto want_wpe = golden("embedding.b2_t5.dwpe");
  const auto table_kernels = implementations_of<double>(tokens);
  const auto place_kernels = implementations_of<double>(places);
  for (std::size_t i = 0; i < table_kernels.size(); ++i) {
    const auto e = thimble_test::run(tokens, table_kernels[i].kernels);
    places.values[0] = e.out;
    const auto r = thimble_test::run(places, place_kernels[i].kernels);
    for (std::size_t j = 0; j < want_y.size(); ++j) DOUBLES_EQUAL(want_y[j], r.out[j], 1e-15);
    for (std::size_t j = 0; j < want_wte.size(); ++j) DOUBLES_EQUAL(want_wte[j], e.gradients[1][j], 1e-14);
    for (std::size_t j = 0; j < want_wpe.size(); ++j) DOUBLES_EQUAL(want_wpe[j], r.gradients[1][j], 1e-14);
  }
}

}  // namespace
