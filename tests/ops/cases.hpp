#pragma once
/// All cases of all ops: what the units impl_*.cpp instantiate kernels for. A new list needs its line here.

#if __has_include("tests/ops/attention_cases.hpp")
#include "tests/ops/attention_cases.hpp"
#endif
#if __has_include("tests/ops/head_cases.hpp")
#include "tests/ops/head_cases.hpp"
#endif
#include "tests/ops/elementwise_cases.hpp"
#include "tests/ops/linear_cases.hpp"
#include "tests/ops/norm_cases.hpp"
#include "tests/ops/token_cases.hpp"

namespace thimble_test {

using AllCases = JoinedCases<
#if __has_include("tests/ops/attention_cases.hpp")
    AttentionCases,
#endif
#if __has_include("tests/ops/head_cases.hpp")
    HeadCases,
#endif
    ElementwiseCases, AllLinearCases, NormCases, TokenCases>;

}  // namespace thimble_test
