#include "tests/ops/cases.hpp"
#include "tools/model/shared_kernels.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Avx512)

namespace thimble_test {

constinit const KernelTable avx512_kernels = kernel_table<thimble::Avx512>(AllCases{});

}  // namespace thimble_test
