#pragma once
/// The product kernels of each instruction set, and its peak rate of multiply-adds, as plain functions.

#include "core/ops/product_args.hpp"

namespace thimble {

struct SgemmKernels {
  void (*product[3])(const ProductArgs<float>&, const Worker&);  ///< by ProductKind
  /// Runs `rounds` rounds of independent multiply-adds in registers; returns how many floating-point operations.
  std::int64_t (*multiply_adds)(std::int64_t rounds);
};

SgemmKernels sgemm_kernels_avx2();
SgemmKernels sgemm_kernels_avx512();

}  // namespace thimble
