#pragma once
/// Attention, forward: blocks of query rows of one head. Keys are walked twice: all scores of the block go to
/// a strip [keys, queries] of scratch with the row maxima, then become probabilities and are summed, then
/// weigh the values.

#include "core/ops/attention_tile.hpp"
#include "core/ops/elements.hpp"
#include "core/simd/functions.hpp"

namespace thimble::detail {

/// Query rows that one block holds, and the pitch of its transposed tiles. Scratch grows with it, so it
/// depends on the shape alone; it never falls when T grows.
THIMBLE_INLINE constexpr int attention_block(std::int64_t T, int D) {
  if (T <= 16) return 16;
  if (D < 32) return T <= 64 ? 16 : 32;
  return T <= 32 ? 32 : 64;
}

/// 1 / sqrt(n) for n < 2^26, rounded once: Newton's iteration, and a last step by the residual 1 - n x^2, for
/// which the products are split into exact halves (Dekker).
THIMBLE_INLINE constexpr double inverse_root(int n) {
  const auto upper = [](double a) { return a * 134217729.0 - (a * 134217729.0 - a); };
  double x = 1;
  while (x * x * n > 1) x *= 0.5;
  for (int i = 0; i < 8; ++i) x *= 1.5 - 0.5 * n * x * x;
  const double square = x * x, high = upper(x), low = x - high, square_high = upper(square);
  const double square_error = ((high * high - square) + 2 * high * low) + low * low;
  const double residual = ((1 - n * square_high) - n * (square - square_high)) - n * square_error;
  return x + 0.5 * x * residual;
}
static_assert(inverse_root(1) == 1 && inverse_root(16) == 0.25 && inverse_root(64) == 0.125);

/// The numbers 0, 1, 2 ...: each lane's own.
template <class S>
THIMBLE_INLINE typename S::Vec lane_numbers() {
  alignas(64) static constexpr
      typename S::real kNumbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static_assert(S::width <= 16);
  return S::Vec::load(kNumbers);
}

/// A block of query rows of one head.
template <class real>
struct AttentionRows {
  const real* q;       ///< the first query row
  const real* k;       ///< row 0 of the sequence
  const real* v;       ///< row 0 of the sequence
  real* out;           ///< the first query's output row
  real* saved;         ///< the first query's row of statistics at this head's column, or null
  std::int64_t first;  ///< position of the first query in the sequence
  int count;           ///< query rows
};

template <class S, int C, int H, int kKeyStride>
class AttentionForward {
 public:
  using real = typename S::real;
  using Vec = typename S::Vec;
  static constexpr int D = C / H;

  /// Numbers of scratch for sequences of T.
  static constexpr std::int64_t scratch_count(std::int64_t T, int pitch) { return (2 + D + T) * pitch; }

  AttentionForward(const AttentionRows<real>& rows, int pitch, real* scratch)
      : x_(rows),
        pitch_(pitch),
        vecs_((rows.count + S::width - 1) / S::width),
        maxima_(scratch),
        inverse_sums_(maxima_ + pitch),
        queries_(inverse_sums_ + pitch),
        strip_(queries_ + D * pitch) {}

  void run() {
    transpose<S>(x_.q, 3 * C, x_.count, D, queries_, pitch_, vecs_ * S::width);
    scores();
    probabilities();
    values();
    finish();
  }

 private:
  static constexpr real kScale = real(inverse_root(D));
  using Tiles = AttentionTiles<S>;

  void scores() {
    const std::int64_t keys = x_.first + x_.count;
    score_tiles<S, ScoreFinish::scale>({x_.k, kKeyStride, queries_, pitch_, D, strip_, kScale, nullptr}, keys,
                                       vecs_, -x_.first);
    const real lowest = -std::numeric_limits<real>::infinity();
    for (int v = 0; v < vecs_; ++v) {
      Vec top = Vec::broadcast(lowest);
      for_keys(
          v, [&](real* at, std::int64_t) { top = maximum(Vec::load(at), top); },
          [&](real* at, std::int64_t, std::int64_t ahead) {
            top = maximum(visible(Vec::load(at), ahead, lowest), top);
          });
      top.store(maxima_ + v * S::width);
    }
  }

  /// Calls all(score, key) for the keys that every query of vector v sees, then some(score, key, ahead) for
  /// those that only some see. `score` is where the vector's scores of that key lie.
  template <class All, class Some>
  THIMBLE_INLINE void for_keys(int v, const All& all, const Some& some) {
    const std::int64_t query = x_.first + v * S::width;
    const std::int64_t end = query + S::width < x_.first + x_.count ? query + S::width : x_.first + x_.count;
    real* at = strip_ + v * S::width;
    std::int64_t j = 0;
    for (; j <= query; ++j, at += pitch_) all(at, j);
    for (; j < end; ++j, at += pitch_) some(at, j, j - query);
  }

  /// x in the lanes of queries that see a key which lies `ahead` of the first lane's query, else `others`.
  THIMBLE_INLINE static Vec visible(Vec x, std::int64_t ahead, real others) {
    return select(Vec::broadcast(real(ahead)) <= lane_numbers<S>(), x, Vec::broadcast(others));
  }

  void probabilities() {
    for (int v = 0; v < vecs_; ++v) {
      Vec lanes[16];
      for (Vec& l : lanes) l = Vec::broadcast(0);
      const Vec top = Vec::load(maxima_ + v * S::width);
      const auto weigh = [&](real* at) {
        const Vec p = exp(Vec::load(at) - top);
        p.store(at);
        return p;
      };
      for_keys(
          v, [&](real* at, std::int64_t j) { lanes[j % 16] = lanes[j % 16] + weigh(at); },
          [&](real* at, std::int64_t j, std::int64_t ahead) {
            lanes[j % 16] = lanes[j % 16] + visible(weigh(at), ahead, 0);
          });
      for (int half = 8; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) lanes[i] = lanes[i] + lanes[i + half];
      }
      (Vec::broadcast(1) / lanes[0]).store(inverse_sums_ + v * S::width);
    }
  }

  void values() {
    constexpr std::int64_t kKeys = 64;
    for (std::int64_t j = 0; j < x_.first; j += kKeys) {
      const std::int64_t keys = x_.first - j < kKeys ? x_.first - j : kKeys;
      chain_tiles<S, D, Triangle::none>(x_.count,
                                        [&](std::int64_t r, int) { return chain(j, r, keys, j == 0); });
    }
    chain_tiles<S, D, Triangle::shrinks>(
        x_.count, [&](std::int64_t r, int) { return chain(x_.first, r, r + 1, x_.first == 0); });
  }

  THIMBLE_INLINE ChainArgs<real> chain(std::int64_t key, std::int64_t r, std::int64_t steps,
                                       bool from_zero) const {
    return {strip_ + key * pitch_ + r,
            1,
            pitch_,
            x_.v + key * kKeyStride,
            kKeyStride,
            x_.out + r * C,
            C,
            steps,
            from_zero};
  }

  void finish() {
    for (int r = 0; r < x_.count; ++r) {
      const Vec scale = Vec::broadcast(inverse_sums_[r]);
      real* const row = x_.out + r * C;
      for_elements<S>({0, D}, [&](auto at) { at.store(row, at.load(row) * scale); });
      if (x_.saved == nullptr) continue;
      x_.saved[r * 2 * H] = maxima_[r];
      x_.saved[r * 2 * H + H] = inverse_sums_[r];
    }
  }

  AttentionRows<real> x_;
  std::int64_t pitch_;
  int vecs_;
  real* maxima_;
  real* inverse_sums_;
  real* queries_;
  real* strip_;
};

}  // namespace thimble::detail
