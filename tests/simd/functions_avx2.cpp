#include <algorithm>

#include "tests/simd/function_set.hpp"

namespace thimble {
template <>
const FunctionSet<float>& avx2_functions() {
  return FunctionsOf<Simd<float, Avx2>>::set;
}
template <>
const FunctionSet<double>& avx2_functions() {
  return FunctionsOf<Simd<double, Avx2>>::set;
}
}  // namespace thimble
