#include "tests/simd/sets.hpp"

namespace thimble_test {

using thimble::Plain, thimble::Profile, thimble::Simd;

template <>
const Kernels<float>& plain_fused_kernels() {
  static const auto set = kernels<Simd<float, Plain<Profile::fused>>>("plain fused float");
  return set;
}
template <>
const Kernels<double>& plain_fused_kernels() {
  static const auto set = kernels<Simd<double, Plain<Profile::fused>>>("plain fused double");
  return set;
}
template <>
const Kernels<float>& plain_separate_kernels() {
  static const auto set = kernels<Simd<float, Plain<Profile::separate>>>("plain separate float");
  return set;
}
template <>
const Kernels<double>& plain_separate_kernels() {
  static const auto set = kernels<Simd<double, Plain<Profile::separate>>>("plain separate double");
  return set;
}

}  // namespace thimble_test
