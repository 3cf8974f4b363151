#pragma once
/// Matrix products: C[m, n] (= | +=) sum over k of A times B, plus an optional bias per column.
///
/// Order of sums (the bits; product_args.hpp has kSumBlock = 256). For every output alone:
///   p_j = chain over the k of block j in ascending order: p = +0, but bias[n] for p_0 if there is one;
///         p = mul_add(a, b, p)
///   overwrite:  C = p_0;      C = C + p_1; ...        accumulate:  C = C + p_0; C = C + p_1; ...
/// k = 0 counts as one empty block, whose p_0 is what it begins with. Nothing else decides the bits: not the tile, packing,
/// instruction set, nor number of workers.

#include "core/ops/product_arm.hpp"
#include "core/ops/product_direct.hpp"
#include "core/ops/product_packed.hpp"

namespace thimble {

namespace detail {

/// The one driver of a kernel set and kind, for all shapes: not inline, so that programs with many models can
/// compile it once (tools/model/shared_kernels.hpp).
template <class S, ProductKind kKind>
void run_product(const ProductArgs<typename S::real>& args, const Worker& worker) {
  if constexpr (kHasRegisters<S>) {
    if (product_is_packed(kKind, args.m, args.n, args.k)) return PackedProduct<S, kKind>::run(args, worker);
  }
#if THIMBLE_ARM_FPU
  if constexpr (kHasArmFpu<typename S::Vec>) return ArmProduct<S, kKind>::run(args, worker);
#endif
  DirectProduct<S, kKind>::run(args, worker);
}

}  // namespace detail

/// Computes this worker's outputs of the product. All workers call it with the same args; no worker waits for another.
template <class S, ProductKind kKind>
void product(const ProductArgs<typename S::real>& args, const Worker& worker) {
  if (args.m == 0 || args.n == 0) return;
  detail::run_product<S, kKind>(args, worker);
}

}  // namespace thimble
