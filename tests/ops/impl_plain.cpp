#include "tests/ops/cases.hpp"

namespace thimble_test {

constinit const KernelTable plain_fused_kernels =
    kernel_table<thimble::Plain<thimble::Profile::fused>>(AllCases{});
constinit const KernelTable plain_separate_kernels =
    kernel_table<thimble::Plain<thimble::Profile::separate>>(AllCases{});

}  // namespace thimble_test
