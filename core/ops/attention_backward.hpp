#pragma once
/// Attention, backward: one head of one batch row at a time, in blocks of queries by blocks of keys. A
/// block's probabilities are computed again from the row statistics, and live in one small tile.

#include "core/ops/attention_forward.hpp"

namespace thimble::detail {

/// One head of one batch row. All pointers are at token 0.
template <class real>
struct AttentionHead {
  const real* q;
  const real* k;
  const real* v;
  const real* out;
  const real* saved;
  const real* d_out;
  real* d_q;
  real* d_k;
  real* d_v;
  std::int64_t T;
};

template <class S, int C, int H>
class AttentionBackward {
 public:
  using real = typename S::real;
  using Vec = typename S::Vec;
  static constexpr int D = C / H;

  /// Numbers of scratch: transposed queries and gradients, three statistics, the tile, and sums kept apart.
  static constexpr std::int64_t scratch_count(int pitch) { return (4 * D + 3 + pitch) * pitch; }

  AttentionBackward(const AttentionHead<real>& head, int pitch, real* scratch)
      : x_(head),
        pitch_(pitch),
        maxima_(scratch),
        inverse_sums_(maxima_ + pitch),
        row_dots_(inverse_sums_ + pitch),
        queries_(row_dots_ + pitch),
        gradients_(queries_ + D * pitch),
        tile_(gradients_ + D * pitch),
        apart_(tile_ + pitch * pitch) {}

  /// Overwrites the gradients of the queries in blocks `queries`, and of the keys and values in blocks
  /// `keys`. The sums grow in the gradients themselves.
  void overwrite(Range queries, Range keys) {
    for (std::int64_t i = 0; i * pitch_ < x_.T; ++i) {
      const bool has_query = queries.begin <= i && i < queries.end;
      if (!has_query && (keys.size() == 0 || i < keys.begin)) continue;
      begin_queries(i);
      for (std::int64_t j = has_query ? 0 : keys.begin; j <= i; ++j) {
        const bool has_key = keys.begin <= j && j < keys.end;
        if (!has_query && !has_key) break;
        const std::int64_t to = j * pitch_ * kStride;
        block(i, j,
              {has_query ? x_.d_q + i * pitch_ * kStride : nullptr, has_key ? x_.d_k + to : nullptr,
               has_key ? x_.d_v + to : nullptr, kStride});
      }
      if (has_query) put(i, x_.d_q + i * pitch_ * kStride, kStride, x_.d_q, kScale, false);
    }
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      put(j, x_.d_k + j * pitch_ * kStride, kStride, x_.d_k, kScale, false);
    }
  }

  /// Adds to the same gradients. The sums grow apart from them: queries first, keys and values in a second
  /// walk.
  void add(Range queries, Range keys) {
    for (std::int64_t i = queries.begin; i < queries.end; ++i) {
      begin_queries(i);
      for (std::int64_t j = 0; j <= i; ++j) block(i, j, {apart_, nullptr, nullptr, D});
      put(i, apart_, D, x_.d_q, kScale, true);
    }
    real* const apart_v = apart_ + pitch_ * D;
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      for (std::int64_t i = j; i * pitch_ < x_.T; ++i) {
        begin_queries(i);
        block(i, j, {nullptr, apart_, apart_v, D});
      }
      put(j, apart_, D, x_.d_k, kScale, true);
      put(j, apart_v, D, x_.d_v, real(1), true);
    }
  }

 private:
  static constexpr real kScale = real(inverse_root(D));
  static constexpr std::int64_t kStride = 3 * C;
  using Tiles = AttentionTiles<S>;

  /// Where a block's sums go, at its first row; null where they are not wanted.
  struct Sums {
    real* q;
    real* k;
    real* v;
    std::int64_t stride;
  };

  THIMBLE_INLINE std::int64_t rows_of(std::int64_t block) const {
    const std::int64_t left = x_.T - block * pitch_;
    return left < pitch_ ? left : pitch_;
  }

  /// Transposes the queries of a block and their gradients, and gathers their statistics.
  void begin_queries(std::int64_t i) {
    const std::int64_t first = i * pitch_;
    const int count = int(rows_of(i));
    vecs_ = (count + S::width - 1) / S::width;
    transpose<S>(x_.q + first * kStride, kStride, count, D, queries_, pitch_, vecs_ * S::width);
    transpose<S>(x_.d_out + first * C, C, count, D, gradients_, pitch_, vecs_ * S::width);
    for (int r = 0; r < count; ++r) {
      maxima_[r] = x_.saved[(first + r) * 2 * H];
      inverse_sums_[r] = x_.saved[(first + r) * 2 * H + H];
      row_dots_[r] = row_dot<S>(x_.d_out + (first + r) * C, x_.out + (first + r) * C, D);
    }
    for (int r = count; r < vecs_ * S::width; ++r) maxima_[r] = inverse_sums_[r] = row_dots_[r] = 0;
  }

  void block(std::int64_t i, std::int64_t j, const Sums& sums) {
    const real* const k = x_.k + j * pitch_ * kStride;
    const real* const q = x_.q + i * pitch_ * kStride;
    const real* const d_out = x_.d_out + i * pitch_ * C;
    const bool diagonal = i == j;
    const std::int64_t keys = rows_of(j), count = rows_of(i);
    probabilities(k, keys, diagonal);
    if (sums.v != nullptr) key_sums(d_out, C, sums.v, sums.stride, keys, count, diagonal);
    score_gradients(x_.v + j * pitch_ * kStride, keys, diagonal);
    if (sums.q != nullptr) query_sums(k, sums.q, sums.stride, keys, count, diagonal, j == 0);
    if (sums.k != nullptr) key_sums(q, kStride, sums.k, sums.stride, keys, count, diagonal);
  }

  void probabilities(const real* k, std::int64_t keys, bool diagonal) {
    score_tiles<S, ScoreFinish::scale>({k, kStride, queries_, pitch_, D, tile_, kScale, nullptr}, keys, vecs_,
                                       diagonal ? 0 : -pitch_);
    for (std::int64_t j = 0; j < keys; ++j) {
      for (int v = diagonal ? int(j) / S::width : 0; v < vecs_; ++v) {
        const int column = v * S::width;
        real* const at = tile_ + j * pitch_ + column;
        const Vec p = exp(Vec::load(at) - Vec::load(maxima_ + column));
        (p * Vec::load(inverse_sums_ + column)).store(at);
      }
    }
  }

  /// The tile's probabilities become the gradients of the scores.
  void score_gradients(const real* v, std::int64_t keys, bool diagonal) {
    score_tiles<S, ScoreFinish::gradient>({v, kStride, gradients_, pitch_, D, tile_, real(1), row_dots_},
                                          keys, vecs_, diagonal ? 0 : -pitch_);
  }

  /// sums[key] += chain over queries of tile[key, query] rows[query].
  void key_sums(const real* rows, std::int64_t stride, real* sums, std::int64_t sums_stride,
                std::int64_t keys, std::int64_t count, bool diagonal) {
    if (diagonal) {
      chain_tiles<S, D, Triangle::grows>(keys, [&](std::int64_t r, int tile_rows) -> ChainArgs<real> {
        return {tile_ + r * pitch_ + r,
                pitch_,
                1,
                rows + r * stride,
                stride,
                sums + r * sums_stride,
                sums_stride,
                count - r - (tile_rows - 1),
                true};
      });
    } else {
      chain_tiles<S, D, Triangle::none>(keys, [&](std::int64_t r, int) -> ChainArgs<real> {
        return {tile_ + r * pitch_,     pitch_,      1,     rows, stride,
                sums + r * sums_stride, sums_stride, count, false};
      });
    }
  }

  /// sums[query] += chain over keys of tile[key, query] k[key].
  void query_sums(const real* k, real* sums, std::int64_t sums_stride, std::int64_t keys, std::int64_t count,
                  bool diagonal, bool from_zero) {
    const auto args = [&](std::int64_t r, std::int64_t steps) -> ChainArgs<real> {
      return {tile_ + r, 1, pitch_, k, kStride, sums + r * sums_stride, sums_stride, steps, from_zero};
    };
    if (diagonal) {
      chain_tiles<S, D, Triangle::shrinks>(count, [&](std::int64_t r, int) { return args(r, r + 1); });
    } else {
      chain_tiles<S, D, Triangle::none>(count, [&](std::int64_t r, int) { return args(r, keys); });
    }
  }

  /// gradient = sums * scale for the rows of a block, or gradient + sums * scale. `gradient` is at token 0.
  void put(std::int64_t block, const real* sums, std::int64_t sums_stride, real* gradient, real scale,
           bool adds) {
    for (std::int64_t r = 0; r < rows_of(block); ++r) {
      real* const to = gradient + (block * pitch_ + r) * kStride;
      for_elements<S>({0, D}, [&](auto at) {
        put_gradient<S>(at, to, at.load(sums + r * sums_stride) * Vec::broadcast(scale), adds);
      });
    }
  }

  AttentionHead<real> x_;
  std::int64_t pitch_;
  int vecs_ = 0;
  real* maxima_;
  real* inverse_sums_;
  real* row_dots_;
  real* queries_;
  real* gradients_;
  real* tile_;
  real* apart_;
};

}  // namespace thimble::detail
