#include "tools/model/shared_kernels.hpp"

THIMBLE_PACKED_PRODUCTS(template, thimble::Avx2)
THIMBLE_SHARED_KERNELS(template, thimble::Avx2)
