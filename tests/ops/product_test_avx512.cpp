#include "tests/ops/product_test_impl.hpp"
#include "tools/model/shared_kernels.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Avx512)
THIMBLE_PACKED_PRODUCTS(extern template, thimble::Avx512)

namespace thimble_test {

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
template <>
const ProductImplementation<float>* ProductImplementations<float>::avx512() {
  return implementation<thimble::Simd<float, thimble::Avx512>>("avx512 float");
}
template <>
const ProductImplementation<double>* ProductImplementations<double>::avx512() {
  return implementation<thimble::Simd<double, thimble::Avx512>>("avx512 double");
}
#else
template <>
const ProductImplementation<float>* ProductImplementations<float>::avx512() {
  return nullptr;
}
template <>
const ProductImplementation<double>* ProductImplementations<double>::avx512() {
  return nullptr;
}
#endif

}  // namespace thimble_test
