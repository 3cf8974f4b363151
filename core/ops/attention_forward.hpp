#pragma once
/// Attention, forward: blocks of query rows of one head. Keys are walked twice: all scores of the block go to
/// a strip [keys, queries] of scratch with the row maxima; then they become weights, are summed, and weigh
/// the values.

#include <limits>

#include "core/ops/attention_shape.hpp"
#include "core/ops/attention_tile.hpp"
#include "core/ops/elements.hpp"
#include "core/simd/functions.hpp"

namespace thimble::detail {

/// The numbers 0, 1, 2 ...: each lane's own.
template <class S>
THIMBLE_INLINE typename S::Vec lane_numbers() {
  alignas(64) static constexpr
      typename S::real kNumbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static_assert(S::width <= 16);
  return S::Vec::load(kNumbers);
}

/// A block of query rows of one head, with all keys and values that they see.
template <class real>
struct QueryBlock {
  Rows<const real> q;  ///< the block's first row
  Rows<const real> k;  ///< row 0 of the sequence
  Rows<const real> v;  ///< row 0 of the sequence
  Rows<real> out;      ///< the block's first row
  std::ptrdiff_t first;  ///< position of the block in the sequence
  int count;           ///< rows
};

template <class S>
class AttentionForward {
 public:
  using real = typename S::real;
  using Vec = typename S::Vec;

  AttentionForward(const QueryBlock<real>& block, const AttentionShape<real>& shape, std::ptrdiff_t pitch,
                   real* scratch)
      : x_(block),
        shape_(shape),
        pitch_(pitch),
        vecs_((block.count + S::width - 1) / S::width),
        maxima_(scratch),
        inverse_sums_(maxima_ + pitch),
        queries_(inverse_sums_ + pitch),
        strip_(queries_ + shape.D * pitch) {}

  void run() {
    transpose_queries<S>(x_.q.at, x_.q.stride, x_.count, shape_.D, queries_, pitch_);
    if constexpr (kHasArmFpu<Vec>) {
      this->arm_scores();
    } else {
      scores();
      for (int v = 0; v < vecs_; ++v) weights(v);
    }
    values();
  }
  /// The statistics of the block's rows.
  real maximum_of(int row) const { return maxima_[row]; }
  real inverse_sum_of(int row) const { return inverse_sums_[row]; }

 private:
  void scores() {
    const real lowest = -std::numeric_limits<real>::infinity();
    for (int v = 0; v < vecs_; ++v) Vec::broadcast(lowest).store(maxima_ + v * S::width);
    ScoreArgs<real> args = {x_.k.at, x_.k.stride, queries_, pitch_, shape_.D, strip_, shape_.scale, maxima_};
    score_tiles<S, ScoreFinish::scale_and_top>(args, x_.first, vecs_, false);
    args.rows += x_.first * args.stride;
    args.to += x_.first * pitch_;
    score_tiles<S, ScoreFinish::scale>(args, x_.count, vecs_, true);
    for (int v = 0; v < vecs_; ++v) {
      Vec top = Vec::load(maxima_ + v * S::width);
      for_diagonal_keys(v, [&](Vec s, real*, std::ptrdiff_t, auto seen)
                               THIMBLE_INLINE_LAMBDA { top = maximum(seen(s, lowest), top); });
      top.store(maxima_ + v * S::width);
    }
  }

  /// Calls body(score, where it lies, key, seen) for the block's own keys that queries of vector v see.
  /// seen(x, others) is x in the lanes of the queries that do.
  template <class Body>
  THIMBLE_INLINE void for_diagonal_keys(int v, const Body& body) {
    const int query = v * S::width;
    const int end = query + S::width < x_.count ? query + S::width : x_.count;
    real* at = strip_ + x_.first * pitch_ + query;
    int j = 0;
    for (; j <= query; ++j, at += pitch_) {
      body(Vec::load(at), at, x_.first + j, [](Vec x, real) THIMBLE_INLINE_LAMBDA { return x; });
    }
    const Vec lanes = lane_numbers<S>();
    for (; j < end; ++j, at += pitch_) {
      const auto mask = Vec::broadcast(real(j - query)) <= lanes;
      body(Vec::load(at), at, x_.first + j,
           [&](Vec x, real others) THIMBLE_INLINE_LAMBDA { return select(mask, x, Vec::broadcast(others)); });
    }
  }

#if THIMBLE_ARM_FPU
  /// All scores, then eight queries at a time their maxima, weights and sums.
  void arm_scores() {
    const auto own = std::int32_t(x_.first);
    arm_score_tiles<S, ScoreFinish::scale>(
        {x_.k.at, x_.k.stride, queries_, pitch_, shape_.D, strip_, shape_.scale, nullptr}, own + x_.count, vecs_, true,
        own);
    for (int query = 0; query < vecs_ * S::width; query += 8) arm_weights(query);
  }

  void arm_weights(int query) {
    const int seen = x_.count - query < 8 ? x_.count - query : 8;
    const std::ptrdiff_t keys = x_.first + query + seen, pitch = pitch_ * std::ptrdiff_t(sizeof(float));
    real* const to = strip_ + query;
    real* const own = to + (x_.first + query) * pitch_;
    arm_fill_below(own, pitch, seen, to);  // what a query does not see counts as key 0, which it does
    for (int i = 0; i < 8; ++i) maxima_[query + i] = -std::numeric_limits<real>::infinity();
    arm_column_maxima(maxima_ + query, to, pitch, keys);
    exp_rows(to, pitch_, keys, maxima_ + query, nullptr);
    arm_fill_below(own, pitch, seen, kArmZeros);

    arm_sums(to, keys, inverse_sums_ + query);
  }

  /// The inverse sums of eight queries' weights: sixteen sums of keys, then the tree. No sum is -0, so that sums of one key
  /// are that key.
  void arm_sums(const real* weights, std::ptrdiff_t keys, real* inverse) {
    constexpr auto kBytes = std::ptrdiff_t(sizeof(float)), kStep = 8 * kBytes;
    const std::ptrdiff_t pitch = pitch_ * kBytes;
    real sums[16][8];
    const real* from = weights;
    std::ptrdiff_t step = pitch, count = keys;
    const auto fold = [&](std::ptrdiff_t places) THIMBLE_INLINE_LAMBDA {
      const std::ptrdiff_t pairs = count - places < places ? count - places : places;
      if (pairs > 0) {
        arm_add_rows(sums[0], kStep, from, step, from + places * (step / kBytes), step, pairs);
        if (from == weights) arm_copy_rows(weights + pairs * pitch_, pitch, places - pairs, sums[pairs]);
        from = sums[0];
        step = kStep;
      }
      count = count < places ? count : places;
    };
    fold(16);
    for (std::ptrdiff_t j = 32; j < keys; j += 16) {
      arm_add_rows(sums[0], kStep, sums[0], kStep, weights + j * pitch_, pitch, keys - j < 16 ? keys - j : 16);
    }
    for (int half = 8; half > 0; half /= 2) fold(half);
    for (int i = 0; i < 8; ++i) inverse[i] = 1 / from[i];
  }
#endif

  /// The scores of vector v become weights exp(s - max); their sums go by the key's place among sixteen.
  void weights(int v) {
    Vec sums[16];
    unrolled<16>([&](auto i) THIMBLE_INLINE_LAMBDA { sums[i] = Vec::broadcast(0); });
    const Vec top = Vec::load(maxima_ + v * S::width);
    real* at = strip_ + v * S::width;
    for (std::ptrdiff_t j = 0; j < x_.first; ++j, at += pitch_) {
      const Vec p = exp(Vec::load(at) - top);
      p.store(at);
      sums[j & 15] = sums[j & 15] + p;
    }
    for_diagonal_keys(v, [&](Vec s, real* to, std::ptrdiff_t j, auto seen) THIMBLE_INLINE_LAMBDA {
      const Vec p = exp(s - top);
      p.store(to);
      sums[j & 15] = sums[j & 15] + seen(p, 0);
    });
    put_inverse_sums(sums, v);
  }

  THIMBLE_INLINE void put_inverse_sums(Vec (&sums)[16], int v) {
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
    }
    (Vec::broadcast(1) / sums[0]).store(inverse_sums_ + v * S::width);
  }

  void values() {
    constexpr std::ptrdiff_t kKeys = 64;  // few enough for the values to stay in the first cache
    ChainArgs<real> args = {strip_,        1, pitch_, x_.v.at, x_.v.stride, x_.out.at,
                            x_.out.stride, 0, true,   nullptr, 0,           shape_.D};
    for (std::ptrdiff_t j = 0; j < x_.first; j += kKeys) {
      args.steps = x_.first - j < kKeys ? x_.first - j : kKeys;
      chain_tiles<S, Triangle::none>(args, x_.count);
      args.from_zero = false;
      args.a += args.steps * args.step;
      args.b += args.steps * args.ldb;
    }
    args.steps = 1;
    args.scales = inverse_sums_;
    args.scale_step = 1;
    chain_tiles<S, Triangle::shrinks>(args, x_.count);
  }

  QueryBlock<real> x_;
  AttentionShape<real> shape_;
  std::ptrdiff_t pitch_;
  int vecs_;
  real* maxima_;
  real* inverse_sums_;
  real* queries_;  ///< transposed: [D, pitch]
  real* strip_;
};

/// Copies rows of `cols` numbers so that they lie side by side.
template <class S>
Rows<const typename S::real> pack_rows(Rows<const typename S::real> from, std::ptrdiff_t rows, int cols,
                                       typename S::real* to) {
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    for_elements<S>({0, cols}, [&](auto at) { at.store(to + r * cols, at.load(from[r])); });
  }
  return {to, cols};
}

/// The (batch row, head) pairs from `first` on: where each one's tokens and columns begin.
struct HeadWalk {
  std::ptrdiff_t token, head;
  const int heads;
  const std::ptrdiff_t T;

  THIMBLE_INLINE HeadWalk(std::ptrdiff_t first, int heads, std::ptrdiff_t T)
      : token(first / heads * T), head(first % heads), heads(heads), T(T) {}
  THIMBLE_INLINE void next() {
    if (++head < heads) return;
    head = 0;
    token += T;
  }
};

/// Blocks of one head whose costs, summed up before them, lie in `costs`; block i costs i + 1.
template <class S>
void forward_head(const Call<typename S::real>& call, const AttentionShape<typename S::real>& shape,
                  const AttentionBlocks& blocks, const HeadWalk& at, const Range& costs,
                  typename S::real* scratch) {
  using real = typename S::real;
  const int C = shape.C, H = shape.H, D = shape.D;
  const std::ptrdiff_t T = blocks.T, pitch = blocks.pitch;
  const Rows<const real> q = {call.in(0) + at.token * 3 * C + at.head * D, 3 * C};
  const Rows<real> out = {call.out + at.token * C + at.head * D, C};
  Rows<const real> k = {q.at + C, 3 * C}, v = {q.at + 2 * C, 3 * C};
  if (blocks.packs) {
    k = pack_rows<S>(k, T, D, scratch);
    v = pack_rows<S>(v, T, D, scratch + T * D);
    scratch += 2 * T * D;
  }
  for (std::ptrdiff_t i = 0, before = 0; i < blocks.count && before < costs.end; before += ++i) {
    if (before < costs.begin) continue;
    const std::ptrdiff_t first = i * pitch;
    const int count = int(T - first < pitch ? T - first : pitch);
    real* const saved = call.saved + (at.token + first) * 2 * H + at.head;
    AttentionForward<S> block({q.from(first), k, v, out.from(first), first, count}, shape, pitch, scratch);
    block.run();
    for (int r = 0; r < count; ++r) {
      saved[r * 2 * H] = block.maximum_of(r);
      saved[r * 2 * H + H] = block.inverse_sum_of(r);
    }
  }
}

/// Workers share blocks of queries; a block costs as many keys as it sees. Not inline, so that programs with
/// many models can compile it once.
template <class S>
void attention_forward(const Call<typename S::real>& call, const AttentionShape<typename S::real>& shape,
                       const Worker& worker) {
  using real = typename S::real;
  const AttentionBlocks blocks(call.extent.context, shape.D);
  const std::ptrdiff_t cost = blocks.count * (blocks.count + 1) / 2;
  const Range share = worker.share(call.extent.batch * shape.H * cost);
  real* const scratch = static_cast<real*>(call.scratch) + worker.index * blocks.forward_scratch();
  HeadWalk at(share.begin / cost, shape.H, blocks.T);
  for (std::ptrdiff_t before = share.begin / cost * cost; before < share.end; before += cost) {
    forward_head<S>(call, shape, blocks, at, {share.begin - before, share.end - before}, scratch);
    at.next();
  }
}

/// Appends the token's key and value to the cache, rows of k | v, and attends to all that is there. Workers
/// share heads.
template <class S>
void attention_decode(const Call<typename S::real>& call, const AttentionShape<typename S::real>& shape,
                      const Worker& worker) {
  using real = typename S::real;
  const int C = shape.C, H = shape.H, D = shape.D;
  const AttentionBlocks blocks(call.position + 1, D);
  real* const scratch = static_cast<real*>(call.scratch) + worker.index * blocks.decode_scratch();
  const Range heads = worker.share(H);
  for (std::ptrdiff_t h = heads.begin; h < heads.end; ++h) {
    const real* const x = call.in(0) + h * D;
    const Rows<real> k = {call.cache + h * D, 2 * C}, v = {k.at + C, 2 * C};
    for (int c = 0; c < D; ++c) {
      k[call.position][c] = x[C + c];
      v[call.position][c] = x[2 * C + c];
    }
    AttentionForward<S>({{x, 0}, k, v, {call.out + h * D, 0}, call.position, 1}, shape,
                        AttentionBlocks::kDecodePitch, scratch)
        .run();
  }
}

}  // namespace thimble::detail
