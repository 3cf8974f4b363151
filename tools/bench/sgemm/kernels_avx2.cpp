#include "tools/bench/sgemm/kernel_unit.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Avx2)

namespace thimble {
SgemmKernels sgemm_kernels_avx2() { return sgemm_kernels<Simd<float, Avx2>>(); }
}  // namespace thimble
