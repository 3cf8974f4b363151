#include "tools/model/shared_kernels.hpp"

THIMBLE_PACKED_PRODUCTS(template, thimble::Avx512)
THIMBLE_SHARED_KERNELS(template, thimble::Avx512)
