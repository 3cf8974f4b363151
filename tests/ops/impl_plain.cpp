#include "tests/ops/cases.hpp"
#include "tools/model/shared_kernels.hpp"

THIMBLE_SHARED_KERNELS(extern template, thimble::Plain<thimble::Profile::fused>)
THIMBLE_SHARED_KERNELS(extern template, thimble::Plain<thimble::Profile::separate>)

namespace thimble_test {

constinit const KernelTable plain_fused_kernels =
    kernel_table<thimble::Plain<thimble::Profile::fused>>(AllCases{});
constinit const KernelTable plain_separate_kernels =
    kernel_table<thimble::Plain<thimble::Profile::separate>>(AllCases{});

}  // namespace thimble_test
