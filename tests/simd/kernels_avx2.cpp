#include "tests/simd/sets.hpp"

namespace thimble_test {

template <>
const Kernels<float>& avx2_kernels() {
  static const auto set = kernels<thimble::Simd<float, thimble::Avx2>>("avx2 float");
  return set;
}
template <>
const Kernels<double>& avx2_kernels() {
  static const auto set = kernels<thimble::Simd<double, thimble::Avx2>>("avx2 double");
  return set;
}

}  // namespace thimble_test
