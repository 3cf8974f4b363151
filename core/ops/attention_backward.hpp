#pragma once
/// Attention, backward: one head of one batch row at a time, in blocks of queries by blocks of keys. A
/// block's probabilities are computed again from the row statistics, and live in one small tile.

#include "core/ops/attention_forward.hpp"

namespace thimble::detail {

/// One head of one batch row; all rows from token 0 on. Of `saved`, number 0 is the maximum and number
/// `heads` the inverse sum.
template <class real>
struct AttentionHead {
  Rows<const real> q, k, v, out, saved, d_out;
  Rows<real> d_q, d_k, d_v;
};

/// The gradients of one head. Sums of large heads grow in scratch, those of small ones in the gradients
/// themselves, unless gradients are added to.
template <class S>
class AttentionBackward {
 public:
  using real = typename S::real;
  using Vec = typename S::Vec;

  AttentionBackward(const AttentionHead<real>& head, const AttentionShape<real>& shape,
                    const AttentionBlocks& blocks, bool adds, real* scratch)
      : x_(head),
        shape_(shape),
        blocks_(blocks),
        pitch_(blocks.pitch),
        adds_(adds),
        maxima_(scratch),
        inverse_sums_(maxima_ + pitch_),
        dots_(inverse_sums_ + pitch_),
        queries_(dots_ + pitch_),
        gradients_(queries_ + pitch_ * shape.D),
        tile_(gradients_ + pitch_ * shape.D),
        more_(tile_ + pitch_ * pitch_) {}

  /// The gradients of the queries in blocks `queries`, and of the keys and values in blocks `keys`.
  void run(Range queries, Range keys) {
    const std::ptrdiff_t square = pitch_ * shape_.D, all = blocks_.T * shape_.D;
    if (blocks_.packs) {
      sums_q_ = {more_ + 2 * square, shape_.D};
      sums_k_ = {more_ + 3 * square, shape_.D};
      sums_v_ = {sums_k_.at + all, shape_.D};
      x_.k = pack_rows<S>(x_.k, blocks_.T, shape_.D, sums_v_.at + all);
      x_.v = pack_rows<S>(x_.v, blocks_.T, shape_.D, sums_v_.at + 2 * all);
      walk(queries, keys);
    } else if (!adds_) {
      sums_k_ = x_.d_k;
      sums_v_ = x_.d_v;
      walk(queries, keys);
    } else {  // room for one block's sums: one walk a block
      sums_q_ = sums_k_ = {more_, shape_.D};
      sums_v_ = {more_ + square, shape_.D};
      for (std::ptrdiff_t i = queries.begin; i < queries.end; ++i) walk({i, i + 1}, {0, 0});
      for (std::ptrdiff_t j = keys.begin; j < keys.end; ++j) walk({0, 0}, {j, j + 1});
    }
  }

 private:
  THIMBLE_INLINE static bool has(const Range& r, std::ptrdiff_t i) { return r.begin <= i && i < r.end; }
  THIMBLE_INLINE std::ptrdiff_t first(std::ptrdiff_t block) const { return block * pitch_; }
  THIMBLE_INLINE std::ptrdiff_t rows_of(std::ptrdiff_t block) const {
    const std::ptrdiff_t left = blocks_.T - first(block);
    return left < pitch_ ? left : pitch_;
  }
  /// Do sums grow in the gradients?
  THIMBLE_INLINE bool in_place() const { return !blocks_.packs && !adds_; }

  void walk(Range queries, Range keys) {
    first_key_ = in_place() || blocks_.packs ? 0 : first(keys.begin);
    for (std::ptrdiff_t i = 0; i < blocks_.count; ++i) {
      const bool has_query = has(queries, i);
      if (!has_query && (keys.size() == 0 || i < keys.begin)) continue;
      begin_queries(i);
      for (std::ptrdiff_t j = has_query ? 0 : keys.begin; j <= i; ++j) {
        if (has_query || has(keys, j)) block(i, j, has_query, has(keys, j));
      }
      if (has_query && !in_place()) put(sums_q_, x_.d_q.from(first(i)), rows_of(i));
    }
    if (in_place() || keys.size() == 0) return;
    const std::ptrdiff_t begin = first(keys.begin), end = first(keys.end - 1) + rows_of(keys.end - 1);
    put(sums_k_.from(begin - first_key_), x_.d_k.from(begin), end - begin);
    put(sums_v_.from(begin - first_key_), x_.d_v.from(begin), end - begin);
  }

  /// Transposes the queries of a block and their gradients, and gathers their statistics.
  void begin_queries(std::ptrdiff_t i) {
    const int count = int(rows_of(i)), D = shape_.D;
    vecs_ = (count + S::width - 1) / S::width;
    q_ = x_.q.from(first(i));
    d_out_ = x_.d_out.from(first(i));
    if (blocks_.packs) {
      q_ = pack_rows<S>(q_, count, D, more_);
      d_out_ = pack_rows<S>(d_out_, count, D, more_ + pitch_ * D);
    } else if (in_place()) {
      sums_q_ = x_.d_q.from(first(i));
    }
    transpose_queries<S>(q_.at, q_.stride, count, D, queries_, pitch_);
    transpose_queries<S>(d_out_.at, d_out_.stride, count, D, gradients_, pitch_);
    for (int r = 0; r < count; ++r) {
      maxima_[r] = x_.saved[first(i) + r][0];
      inverse_sums_[r] = x_.saved[first(i) + r][shape_.H];
      dots_[r] = row_dot<S>(d_out_[r], x_.out[first(i) + r], D);
    }
    for (int r = count; r < vecs_ * S::width; ++r) maxima_[r] = inverse_sums_[r] = dots_[r] = 0;
  }

  void block(std::ptrdiff_t i, std::ptrdiff_t j, bool has_query, bool has_key) {
    const std::ptrdiff_t keys = rows_of(j), count = rows_of(i), to = first(j) - first_key_;
    const bool diagonal = i == j, last = i + 1 == blocks_.count;
    const Rows<const real> k = x_.k.from(first(j)), v = x_.v.from(first(j));
    probabilities(k, keys, diagonal);
    if (has_key) key_sums(d_out_, sums_v_.from(to), keys, count, diagonal, nullptr);
    score_tiles<S, ScoreFinish::gradient>(
        {v.at, v.stride, gradients_, pitch_, shape_.D, tile_, real(1), dots_}, keys, vecs_, diagonal);
    if (has_query) query_sums(k, keys, count, diagonal, j == 0);
    if (has_key) key_sums(q_, sums_k_.from(to), keys, count, diagonal, last ? &shape_.scale : nullptr);
  }

  void probabilities(Rows<const real> k, std::ptrdiff_t keys, bool diagonal) {
    score_tiles<S, ScoreFinish::scale>(
        {k.at, k.stride, queries_, pitch_, shape_.D, tile_, shape_.scale, nullptr}, keys, vecs_, diagonal);
#if THIMBLE_ARM_FPU
    if constexpr (kHasArmFpu<Vec>) {
      for (std::ptrdiff_t column = 0; column < vecs_ * S::width; column += 8) {
        exp_rows(tile_ + column, pitch_, diagonal && column + 8 < keys ? column + 8 : keys, maxima_ + column,
                 inverse_sums_ + column);
      }
      return;
    }
#endif
    for (std::ptrdiff_t j = 0; j < keys; ++j) {
      for (int v = diagonal ? int(j) / S::width : 0; v < vecs_; ++v) {
        const int column = v * S::width;
        real* const at = tile_ + j * pitch_ + column;
        const Vec p = exp(Vec::load(at) - Vec::load(maxima_ + column));
        (p * Vec::load(inverse_sums_ + column)).store(at);
      }
    }
  }

  /// sums[key] += chain over queries of tile[key, query] rows[query].
  void key_sums(Rows<const real> rows, Rows<real> sums, std::ptrdiff_t keys, std::ptrdiff_t count, bool diagonal,
                const real* scale) {
    const ChainArgs<real> args = {tile_,       pitch_, 1,        rows.at, rows.stride, sums.at,
                                  sums.stride, count,  diagonal, scale,   0,           shape_.D};
    if (diagonal) {
      chain_tiles<S, Triangle::grows>(args, keys);
    } else {
      chain_tiles<S, Triangle::none>(args, keys);
    }
  }

  /// sums[query] += chain over keys of tile[key, query] k[key].
  void query_sums(Rows<const real> k, std::ptrdiff_t keys, std::ptrdiff_t count, bool diagonal, bool from_zero) {
    ChainArgs<real> args = {tile_,          1,    pitch_,    k.at,    k.stride, sums_q_.at,
                            sums_q_.stride, keys, from_zero, nullptr, 0,        shape_.D};
    if (diagonal) {
      args.steps = 1;
      args.scales = &shape_.scale;
      chain_tiles<S, Triangle::shrinks>(args, count);
    } else {
      chain_tiles<S, Triangle::none>(args, count);
    }
  }

  void put(Rows<const real> sums, Rows<real> gradient, std::ptrdiff_t rows) {
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      for_elements<S>({0, shape_.D},
                      [&](auto at) { put_gradient<S>(at, gradient[r], at.load(sums[r]), adds_); });
    }
  }

  AttentionHead<real> x_;
  AttentionShape<real> shape_;
  AttentionBlocks blocks_;
  std::ptrdiff_t pitch_;
  bool adds_;
  real* maxima_;
  real* inverse_sums_;
  real* dots_;
  real* queries_;    ///< the block's queries, transposed: [D, pitch]
  real* gradients_;  ///< the gradients of their outputs, transposed
  real* tile_;       ///< probabilities, then gradients of scores: [keys, queries]
  real* more_;
  int vecs_ = 0;
  Rows<const real> q_, d_out_;  ///< the block's rows
  Rows<real> sums_q_, sums_k_, sums_v_;
  std::ptrdiff_t first_key_ = 0;  ///< the key whose sums are row 0
};

/// This worker's part of blocks 0..n, where block i costs i + 1.
THIMBLE_INLINE Range triangle_share(std::ptrdiff_t n, const Worker& worker) {
  const Range cost = worker.share(n * (n + 1) / 2);
  Range r;
  while (r.begin * (r.begin + 1) / 2 < cost.begin) ++r.begin;
  r.end = r.begin;
  while (r.end * (r.end + 1) / 2 < cost.end) ++r.end;
  return r;
}

/// Workers take whole heads; what is left over they share in blocks of queries and blocks of keys. Not
/// inline, so that programs with many models can compile it once.
template <class S>
void attention_backward(const Call<typename S::real>& call, const AttentionShape<typename S::real>& shape,
                        const Worker& worker) {
  using real = typename S::real;
  if (call.d_in(0) == nullptr) return;
  const int C = shape.C, H = shape.H, D = shape.D;
  const AttentionBlocks blocks(call.extent.context, D);
  real* const scratch = static_cast<real*>(call.scratch) + worker.index * blocks.backward_scratch();
  const auto run = [&](const HeadWalk& at, Range queries, Range keys) {
    const Rows<const real> x = {call.in(0) + at.token * 3 * C + at.head * D, 3 * C};
    const Rows<real> dx = {call.d_in(0) + at.token * 3 * C + at.head * D, 3 * C};
    const std::ptrdiff_t to = at.token * C + at.head * D;
    const AttentionHead<real> head = {.q = x,
                                      .k = x.right(C),
                                      .v = x.right(2 * C),
                                      .out = {call.out + to, C},
                                      .saved = {call.saved + at.token * 2 * H + at.head, 2 * H},
                                      .d_out = {call.d_out + to, C},
                                      .d_q = dx,
                                      .d_k = dx.right(C),
                                      .d_v = dx.right(2 * C)};
    AttentionBackward<S>(head, shape, blocks, call.adds_to(0), scratch).run(queries, keys);
  };
  const std::ptrdiff_t n = blocks.count, heads = std::ptrdiff_t(call.extent.batch) * H;
  const std::ptrdiff_t whole = n < 2 * worker.count ? heads : heads - heads % worker.count;
  const Range share = worker.share(whole);
  HeadWalk at(share.begin, H, blocks.T);
  for (std::ptrdiff_t i = share.begin; i < share.end; ++i, at.next()) run(at, {0, n}, {0, n});
  if (whole == heads) return;
  const Range queries = triangle_share(n, worker);
  const Range reversed = triangle_share(n, {worker.count - 1 - worker.index, worker.count});
  HeadWalk rest(whole, H, blocks.T);
  for (std::ptrdiff_t i = whole; i < heads; ++i, rest.next()) {
    run(rest, queries, {n - reversed.end, n - reversed.begin});
  }
}

}  // namespace thimble::detail
