#pragma once
/// The matrix products of one kernel set, compiled once for all models: kernel units see them declared, and the set's
/// product unit (product_unit_SET.cpp) defines them.

#include "core/ops/product.hpp"

/// Applies `prefix` (extern template, or template) to the products of Simd<real, arch>.
#define THIMBLE_PRODUCTS_OF(prefix, real, ...)                                                                        \
  prefix void thimble::detail::run_product<thimble::Simd<real, __VA_ARGS__>, thimble::ProductKind::nn>(               \
      const thimble::ProductArgs<real>&, const thimble::Worker&);                                                     \
  prefix void thimble::detail::run_product<thimble::Simd<real, __VA_ARGS__>, thimble::ProductKind::nt>(               \
      const thimble::ProductArgs<real>&, const thimble::Worker&);                                                     \
  prefix void thimble::detail::run_product<thimble::Simd<real, __VA_ARGS__>, thimble::ProductKind::tn>(               \
      const thimble::ProductArgs<real>&, const thimble::Worker&);

#define THIMBLE_PRODUCTS(prefix, ...)             \
  THIMBLE_PRODUCTS_OF(prefix, float, __VA_ARGS__) \
  THIMBLE_PRODUCTS_OF(prefix, double, __VA_ARGS__)
