#include <algorithm>

#include "tests/simd/function_set.hpp"

namespace thimble {
template <>
const FunctionSet<float>& avx512_functions() {
  return FunctionsOf<Simd<float, Avx512>>::set;
}
template <>
const FunctionSet<double>& avx512_functions() {
  return FunctionsOf<Simd<double, Avx512>>::set;
}
}  // namespace thimble
