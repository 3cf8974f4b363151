#include "tools/model/product_unit.hpp"

THIMBLE_PRODUCTS(template, thimble::Avx2)
