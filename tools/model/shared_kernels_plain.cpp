#include "tools/model/shared_kernels.hpp"

THIMBLE_SHARED_KERNELS(template, thimble::Plain<thimble::Profile::fused>)
THIMBLE_SHARED_KERNELS(template, thimble::Plain<thimble::Profile::separate>)
