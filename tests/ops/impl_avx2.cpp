#include "tests/ops/cases.hpp"

namespace thimble_test {

constinit const KernelTable avx2_kernels = kernel_table<thimble::Avx2>(AllCases{});

}  // namespace thimble_test
