#include "tests/simd/sets.hpp"

namespace thimble_test {

template <>
const Kernels<float>& avx512_kernels() {
  static const auto set = kernels<thimble::Simd<float, thimble::Avx512>>("avx512 float");
  return set;
}
template <>
const Kernels<double>& avx512_kernels() {
  static const auto set = kernels<thimble::Simd<double, thimble::Avx512>>("avx512 double");
  return set;
}

}  // namespace thimble_test
