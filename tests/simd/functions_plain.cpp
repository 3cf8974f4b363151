#include <algorithm>

#include "tests/simd/function_set.hpp"

namespace thimble {
template <>
const FunctionSet<float>& plain_functions() {
  return FunctionsOf<Simd<float, Plain<Profile::fused>>>::set;
}
template <>
const FunctionSet<double>& plain_functions() {
  return FunctionsOf<Simd<double, Plain<Profile::fused>>>::set;
}
template <>
const FunctionSet<float>& separate_functions() {
  return FunctionsOf<Simd<float, Plain<Profile::separate>>>::set;
}
template <>
const FunctionSet<double>& separate_functions() {
  return FunctionsOf<Simd<double, Plain<Profile::separate>>>::set;
}
}  // namespace thimble
