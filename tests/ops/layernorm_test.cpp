#include <limits>

#include "tests/ops/norm_cases.hpp"
#include "tests/ops/op_test.hpp"

namespace {

using namespace thimble_test;

TEST_GROUP(LayerNorm){};

TEST(LayerNorm, EveryImplementationHasTheSameBitsAndMatchesTheReference) {
  LayerNormCases::each([]<class Case> { check_kernels<Case>(); });
}

TEST(LayerNorm, TheGradientMatchesDifferences) {
  LayerNormCases::each([]<class Case> { check_gradient<Case>(); });
}

TEST(LayerNorm, DecodingGivesTheBitsOfForward) {
  LayerNormCases::each([]<class Case> { check_decode<Case>(); });
}

TEST(LayerNorm, MatchesTorch) {
  check_golden(problem_of<LayerNormCase<7>>({1, 3}), "layernorm.c7", {"x", "gain", "bias"});
  check_golden(problem_of<LayerNormCase<35>>({1, 2}), "layernorm.c35", {"x", "gain", "bias"});
}

}  // namespace
