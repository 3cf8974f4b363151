#include "tests/ops/cases.hpp"

namespace thimble_test {

constinit const KernelTable avx512_kernels = kernel_table<thimble::Avx512>(AllCases{});

}  // namespace thimble_test
