#pragma once
/// A processor's peak: multiply-adds in registers, with nothing to wait for.

#include "core/ops/product_tile.hpp"

namespace thimble {

/// Does `rounds` times as many independent multiply-adds as keep every unit busy, and returns how many floating-point
/// operations that were.
template <class S>
std::int64_t multiply_adds(std::int64_t rounds) {
  using Vec = typename S::Vec;
  constexpr int kChains = S::width > 1 ? 12 : 8;
  volatile typename S::real start = 1, factor = 0.5;
  const Vec x = Vec::broadcast(factor);
  Vec sum[kChains];
  for (Vec& s : sum) s = Vec::broadcast(start);
  for (std::int64_t i = 0; i < rounds; ++i) {
    detail::unrolled<kChains>([&](auto c) THIMBLE_INLINE_LAMBDA { sum[c] = mul_add(sum[c], x, x); });
  }
  Vec total = sum[0];
  for (int c = 1; c < kChains; ++c) total = total + sum[c];
  start = total.sum_across();
  return 2 * rounds * kChains * S::width;
}

}  // namespace thimble
