#pragma once
/// The next token from logits. Same logits and same random number, same token, on every machine.

#include <bit>
#include <span>

#include "core/base/scalar_math.hpp"
#include "core/simd/scalar.hpp"

namespace thimble {

struct SamplingOptions {
  double temperature = 1;  ///< 0: always the most likely token
  std::int32_t top_k = 0;  ///< only the k most likely; 0: all. Among equals the lower id comes first
};

/// The first of the largest logits. A NaN is never chosen (0 where all are).
template <class real>
std::int32_t most_likely(std::span<const real> logits) {
  std::int32_t best = 0;
  for (std::size_t i = 1; i < logits.size(); ++i) {
    const bool best_is_nan = logits[std::size_t(best)] != logits[std::size_t(best)];
    if (logits[i] > logits[std::size_t(best)] || (best_is_nan && logits[i] == logits[i])) best = std::int32_t(i);
  }
  return best;
}

namespace detail {

/// An unsigned integer that orders as the number does.
template <class real>
BitsOf<real> ordered_bits(real x) {
  const auto bits = std::bit_cast<BitsOf<real>>(x);
  constexpr BitsOf<real> sign = ~(~BitsOf<real>(0) >> 1);
  return bits & sign ? ~bits : bits | sign;
}

/// The largest threshold that at least k of the numbers reach: bisection over the bits, without a buffer.
template <class real>
BitsOf<real> top_k_threshold(std::span<const real> logits, std::int32_t k) {
  BitsOf<real> threshold = 0;
  for (BitsOf<real> bit = ~(~BitsOf<real>(0) >> 1); bit != 0; bit >>= 1) {
    std::int32_t reached = 0;
    for (real x : logits) reached += ordered_bits(x) >= (threshold | bit);
    if (reached >= k) threshold |= bit;
  }
  return threshold;
}

}  // namespace detail

/// Draws a token: softmax(logits / temperature) over the k most likely, by the number u in [0, 1).
template <class real>
std::int32_t sample_token(std::span<const real> logits, const SamplingOptions& options, double u) {
  const std::int32_t best = most_likely(logits);
  if (options.temperature <= 0) return best;
  const bool all = options.top_k <= 0 || options.top_k >= std::int32_t(logits.size());
  const auto threshold = all ? BitsOf<real>(0) : detail::top_k_threshold(logits, options.top_k);
  std::int32_t ties = options.top_k;  // how many of those exactly at the threshold belong to the k
  for (real x : logits) ties -= !all && detail::ordered_bits(x) > threshold;

  const double top = double(logits[std::size_t(best)]);
  const auto walk = [&](auto visit) {
    std::int32_t ties_left = ties;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto bits = detail::ordered_bits(logits[i]);
      if (!all && (bits < threshold || (bits == threshold && ties_left-- <= 0))) continue;
      const double weight = scalar_exp((double(logits[i]) - top) / options.temperature);
      if (weight == weight && visit(std::int32_t(i), weight)) return;
    }
  };
  double total = 0;
  walk([&](std::int32_t, double w) { return total += w, false; });
  std::int32_t chosen = best;
  double sum = 0;
  walk([&](std::int32_t i, double w) {
    sum += w;
    if (sum <= u * total) return false;
    chosen = i;
    return true;
  });
  return chosen;
}

}  // namespace thimble
