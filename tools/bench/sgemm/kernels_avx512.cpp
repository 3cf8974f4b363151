#include "tools/bench/sgemm/kernel_unit.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Avx512)

namespace thimble {
SgemmKernels sgemm_kernels_avx512() { return sgemm_kernels<Simd<float, Avx512>>(); }
}  // namespace thimble
