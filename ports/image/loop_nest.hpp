#pragma once
/// The matrix products as plain C loop nests, one output after the other, with the order of sums of
/// core/ops/product.hpp: what the kernels are compared with.

#include "core/ops/product_args.hpp"

namespace thimble {

template <Profile profile, ProductKind kind>
[[gnu::noinline]] void loop_nest(const ProductArgs<float>& args) {
  const float* const a = args.a;
  const float* const b = args.b;
  const int m = int(args.m), n = int(args.n), k = int(args.k);
  const int lda = int(args.lda), ldb = int(args.ldb), ldc = int(args.ldc);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) {
        const float x = kind == ProductKind::tn ? a[p * lda + i] : a[i * lda + p];
        const float y = kind == ProductKind::nt ? b[j * ldb + p] : b[p * ldb + j];
        sum = mul_add<profile>(x, y, sum);
      }
      args.c[i * ldc + j] = sum;
    }
  }
}

}  // namespace thimble
