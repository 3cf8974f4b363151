#include <limits>

#include "tests/ops/op_test.hpp"
#include "tests/ops/token_cases.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(Embedding){};

TEST(Embedding, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  EmbeddingCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(Embedding, TheGradientMatchesDifferences) {
  EmbeddingCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(Embedding, DecodingGivesTheBitsOfForward) {
  EmbeddingCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(Embedding, ARowThatNoTokenNamesGetsAGradientOfZero) {
  Problem p = problem_of<EmbeddingCase<27, 17>>();
  for (std::int32_t& id : p.ids[0]) id = 26;
  check_kernels(p);
  for (const auto& i : implementations_of<float>(p)) {
    const auto r = thimble_test::run(p, i.kernels, {.workers = 2});
    for (std::size_t j = 0; j < 26 * 17; ++j) CHECK_EQUAL(0.0f, r.gradients[1][j]);
  }
}

TEST(Embedding, TokensAddInAscendingOrder) {
  // 1e8 + 1 - 1e8 is 0 in float, and 1 in any other order.
  Problem p = problem_of<EmbeddingCase<1, 35>>({1, 3});
  for (std::size_t c = 0; c < 35; ++c) {
    p.d_out[c] = 1e8;
    p.d_out[35 + c] = 1;
    p.d_out[70 + c] = -1e8;
  }
  for (const auto& i : implementations_of<float>(p)) {
    const auto r = thimble_test::run(p, i.kernels, {.workers = 3});
    for (const float g : r.gradients[1]) CHECK_EQUAL(0.0f, g);
  }
}

}  // namespace
