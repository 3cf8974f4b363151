#include "tests/ops/product_test_impl.hpp"
#include "tools/model/shared_kernels.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Plain<thimble::Profile::fused>)
THIMBLE_SHARED_KERNELS(extern template, thimble::Plain<thimble::Profile::separate>)

namespace thimble_test {

using thimble::Plain;
using thimble::Profile;
using thimble::Simd;

template <>
const ProductImplementation<float>* ProductImplementations<float>::plain_fused() {
  return implementation<Simd<float, Plain<Profile::fused>>>("plain fused float");
}
template <>
const ProductImplementation<double>* ProductImplementations<double>::plain_fused() {
  return implementation<Simd<double, Plain<Profile::fused>>>("plain fused double");
}
template <>
const ProductImplementation<float>* ProductImplementations<float>::plain_separate() {
  return implementation<Simd<float, Plain<Profile::separate>>>("plain separate float");
}
template <>
const ProductImplementation<double>* ProductImplementations<double>::plain_separate() {
  return implementation<Simd<double, Plain<Profile::separate>>>("plain separate double");
}

}  // namespace thimble_test
