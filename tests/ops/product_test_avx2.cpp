#include "tests/ops/product_test_impl.hpp"
#include "tools/model/shared_kernels.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Avx2)
THIMBLE_PACKED_PRODUCTS(extern template, thimble::Avx2)

namespace thimble_test {

#if defined(__AVX2__) && defined(__FMA__)
template <>
const ProductImplementation<float>* ProductImplementations<float>::avx2() {
  return implementation<thimble::Simd<float, thimble::Avx2>>("avx2 float");
}
template <>
const ProductImplementation<double>* ProductImplementations<double>::avx2() {
  return implementation<thimble::Simd<double, thimble::Avx2>>("avx2 double");
}
#else
template <>
const ProductImplementation<float>* ProductImplementations<float>::avx2() {
  return nullptr;
}
template <>
const ProductImplementation<double>* ProductImplementations<double>::avx2() {
  return nullptr;
}
#endif

}  // namespace thimble_test
