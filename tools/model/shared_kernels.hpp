#pragma once
/// The kernels of one set that serve every model alike, compiled once: units that use them see them declared, and
/// shared_kernels_SET.cpp defines them.

#include "core/ops/attention.hpp"
#include "core/ops/product.hpp"
#include "core/train/optimizer.hpp"

#define THIMBLE_SHARED_PRODUCT(prefix, real, kind, ...)                                                       \
  prefix void thimble::detail::run_product<thimble::Simd<real, __VA_ARGS__>, thimble::ProductKind::kind>(     \
      const thimble::ProductArgs<real>&, const thimble::Worker&);
#define THIMBLE_SHARED_ATTENTION(prefix, real, pass, ...)                                                     \
  prefix void thimble::detail::attention_##pass<thimble::Simd<real, __VA_ARGS__>>(                            \
      const thimble::Call<real>&, const thimble::detail::AttentionShape<real>&, const thimble::Worker&);

/// Applies `prefix` (extern template, or template) to the kernels of Simd<real, arch>.
#define THIMBLE_SHARED_KERNELS_OF(prefix, real, ...)                                                          \
  THIMBLE_SHARED_PRODUCT(prefix, real, nn, __VA_ARGS__)                                                       \
  THIMBLE_SHARED_PRODUCT(prefix, real, nt, __VA_ARGS__)                                                       \
  THIMBLE_SHARED_PRODUCT(prefix, real, tn, __VA_ARGS__)                                                       \
  THIMBLE_SHARED_ATTENTION(prefix, real, forward, __VA_ARGS__)                                                \
  THIMBLE_SHARED_ATTENTION(prefix, real, backward, __VA_ARGS__)                                               \
  THIMBLE_SHARED_ATTENTION(prefix, real, decode, __VA_ARGS__)                                                 \
  prefix void thimble::sum_squares<thimble::Simd<real, __VA_ARGS__>>(const real*, std::ptrdiff_t, double*,    \
                                                                     const thimble::Worker&);                 \
  prefix void thimble::adamw_update<thimble::Simd<real, __VA_ARGS__>>(                                        \
      real*, const real*, real*, real*, std::ptrdiff_t, const thimble::AdamWStep<real>&, const thimble::Worker&); \
  prefix void thimble::sgd_update<thimble::Simd<real, __VA_ARGS__>>(                                          \
      real*, const real*, real*, std::ptrdiff_t, const thimble::SgdStep<real>&, const thimble::Worker&);

#define THIMBLE_SHARED_KERNELS(prefix, ...)             \
  THIMBLE_SHARED_KERNELS_OF(prefix, float, __VA_ARGS__) \
  THIMBLE_SHARED_KERNELS_OF(prefix, double, __VA_ARGS__)

/// The same for the driver of large products alone, which sets of plain lanes do not have.
#define THIMBLE_PACKED_PRODUCT(prefix, real, kind, ...)                                                               \
  prefix void thimble::detail::PackedProduct<thimble::Simd<real, __VA_ARGS__>, thimble::ProductKind::kind>::run(      \
      const thimble::ProductArgs<real>&, const thimble::Worker&);
#define THIMBLE_PACKED_PRODUCTS_OF(prefix, real, ...)     \
  THIMBLE_PACKED_PRODUCT(prefix, real, nn, __VA_ARGS__)   \
  THIMBLE_PACKED_PRODUCT(prefix, real, nt, __VA_ARGS__)   \
  THIMBLE_PACKED_PRODUCT(prefix, real, tn, __VA_ARGS__)
#define THIMBLE_PACKED_PRODUCTS(prefix, ...)             \
  THIMBLE_PACKED_PRODUCTS_OF(prefix, float, __VA_ARGS__) \
  THIMBLE_PACKED_PRODUCTS_OF(prefix, double, __VA_ARGS__)
