#include "tests/ops/cases.hpp"
#include "tools/model/shared_kernels.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Avx2)

namespace thimble_test {

constinit const KernelTable avx2_kernels = kernel_table<thimble::Avx2>(AllCases{});

}  // namespace thimble_test
