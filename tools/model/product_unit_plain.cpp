#include "tools/model/product_unit.hpp"

THIMBLE_PRODUCTS(template, thimble::Plain<thimble::Profile::fused>)
THIMBLE_PRODUCTS(template, thimble::Plain<thimble::Profile::separate>)
