#pragma once
/// Causal attention with several heads (Vaswani et al., arXiv 1706.03762), which never holds T x T numbers
/// (Dao et al., arXiv 2205.14135). qkv [tokens, 3C] = q | k | v; head h has columns h D..(h + 1) D of each;
/// out [tokens, C]. Saved per row: H maxima m of the scaled scores, then H inverse sums 1 / l. Backward reads
/// qkv, the output and these; dqkv is overwritten or added to. Aliasing: none.
///
/// Order of sums (the bits). A chain starts at +0 and is one mul_add a summand, ascending; only j <= i take
/// part in any.
///   s_ij = (chain over d of q_id k_jd) scale      scale = 1 / sqrt(D), rounded once
///   m_i = max over j of s_ij,  p_ij = exp(s_ij - m_i),  l_i = sum over j of p_ij in the row order of
///   core/simd/lanes.hpp o_id = (chain over j of p_ij v_jd) (1 / l_i)
/// Backward: P_ij = exp(s_ij - m_i) (1 / l_i),  D_i = row_dot(dO_i, O_i),  dP_ij = chain over d of v_jd
/// dO_id,
///   dS_ij = P_ij (dP_ij - D_i),  dv_jd = chain over i of P_ij dO_id
///   dq_id = (chain over j of dS_ij k_jd) scale,   dk_jd = (chain over i of dS_ij q_id) scale
/// Dims: in = C, heads = H.

#include "core/ops/attention_backward.hpp"
#include "core/ops/attention_ref.hpp"
#include "core/plan/plan.hpp"

namespace thimble {

struct Attention {
  static constexpr Name name{"attention"};

  /// Of the causal triangle: T (T + 1) / 2 pairs a head. exp and division count as one.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t D = v.dims.in / v.dims.heads, T = extent.context;
    const std::int64_t rows = extent.tokens() * v.dims.heads;
    const std::int64_t pairs = std::int64_t(extent.batch) * v.dims.heads * (T * (T + 1) / 2);
    return {pairs * (4 * D + 4) + rows * (D + 1), pairs * (10 * D + 6) + rows * (4 * D)};
  }

  static constexpr std::int64_t scratch_bytes(const Value& v, StepKind kind, const PlanOptions& options) {
    const int D = v.dims.in / v.dims.heads;
    const std::int64_t T = options.extent.context;
    return scratch_count(kind, T, D) * options.workers * options.real_bytes;
  }

  static void forward_ref(const Call<double>& call, Dims d) { detail::attention_forward_ref(call, d); }
  static void backward_ref(const Call<double>& call, Dims d) { detail::attention_backward_ref(call, d); }

  /// Workers share blocks of queries; a block costs as many keys as it sees.
  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    constexpr int C = d.in, H = d.heads, D = C / H;
    using real = typename S::real;
    const std::int64_t T = call.extent.context;
    const int pitch = detail::attention_block(T, D);
    const std::int64_t blocks = (T + pitch - 1) / pitch, cost = blocks * (blocks + 1) / 2;
    real* const scratch = worker_scratch<real>(call, StepKind::forward, T, D, worker);
    const Range share = worker.share(call.extent.batch * H * cost);
    for (std::int64_t head = share.begin / cost; head * cost < share.end; ++head) {
      const std::int64_t first_row = head / H * T, column = head % H * D;
      for (std::int64_t i = 0; i < blocks; ++i) {
        const std::int64_t before = head * cost + i * (i + 1) / 2;
        if (before < share.begin || before >= share.end) continue;
        const std::int64_t first = i * pitch, row = first_row + first;
        const real* const sequence = call.in(0) + first_row * 3 * C + column;
        const detail::AttentionRows<real> rows = {sequence + first * 3 * C,
                                                  sequence + C,
                                                  sequence + 2 * C,
                                                  call.out + row * C + column,
                                                  call.saved + row * 2 * H + head % H,
                                                  first,
                                                  int(T - first < pitch ? T - first : pitch)};
        detail::AttentionForward<S, C, H, 3 * C>(rows, pitch, scratch).run();
      }
    }
  }

  /// Whole heads first; what they leave over is shared in blocks of queries and blocks of keys.
  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    if (call.d_in(0) == nullptr) return;
    constexpr int C = d.in, H = d.heads;
    const int pitch = detail::attention_block(call.extent.context, C / H);
    const std::int64_t blocks = (call.extent.context + pitch - 1) / pitch;
    const std::int64_t heads = std::int64_t(call.extent.batch) * H;
    const std::int64_t whole = blocks < 2 * worker.count ? heads : heads - heads % worker.count;
    const Range share = worker.share(whole);
    for (std::int64_t head = share.begin; head < share.end; ++head) {
      head_backward<S, C, H>(call, worker, head, pitch, {0, blocks}, {0, blocks});
    }
    for (std::int64_t head = whole; head < heads; ++head) {
      const Range queries = triangle_share(blocks, worker);
      const Range reversed = triangle_share(blocks, {worker.count - 1 - worker.index, worker.count});
      head_backward<S, C, H>(call, worker, head, pitch, queries,
                             {blocks - reversed.end, blocks - reversed.begin});
    }
  }

  /// Appends the token's key and value to the cache, rows of k | v, and attends to all that is there.
  template <class S, Dims d>
  static void decode(const Call<typename S::real>& call, const Worker& worker) {
    constexpr int C = d.in, H = d.heads, D = C / H;
    using real = typename S::real;
    const std::int64_t T = call.position + 1;
    const Range heads = worker.share(H);
    real* const scratch = worker_scratch<real>(call, StepKind::decode, T, D, worker);
    real* const last = call.cache + std::int64_t(call.position) * 2 * C;
    for (std::int64_t head = heads.begin; head < heads.end; ++head) {
      const real* const x = call.in(0) + head * D;
      for (int c = 0; c < D; ++c) {
        last[head * D + c] = x[C + c];
        last[C + head * D + c] = x[2 * C + c];
      }
      const real* const k = call.cache + head * D;
      const detail::AttentionRows<real> rows = {x, k, k + C, call.out + head * D, nullptr, call.position, 1};
      detail::AttentionForward<S, C, H, 2 * C>(rows, kDecodePitch, scratch).run();
    }
  }

 private:
  static constexpr int kDecodePitch = 16;

  /// Numbers of scratch for one worker.
  THIMBLE_INLINE static constexpr std::int64_t scratch_count(StepKind kind, std::int64_t T, int D) {
    const std::int64_t pitch = kind == StepKind::decode ? kDecodePitch : detail::attention_block(T, D);
    return pitch * (kind == StepKind::backward ? 4 * D + 3 + pitch : D + 2 + T);
  }

  /// A run may be shorter than the plan's longest: its workers' parts then lie closer together.
  template <class real>
  THIMBLE_INLINE static real* worker_scratch(const Call<real>& call, StepKind kind, std::int64_t T, int D,
                                             const Worker& worker) {
    return static_cast<real*>(call.scratch) + scratch_count(kind, T, D) * worker.index;
  }

  /// This worker's part of blocks 0..n, where block i costs i + 1.
  THIMBLE_INLINE static Range triangle_share(std::int64_t n, const Worker& worker) {
    const Range cost = worker.share(n * (n + 1) / 2);
    Range r;
    while (r.begin * (r.begin + 1) / 2 < cost.begin) ++r.begin;
    r.end = r.begin;
    while (r.end * (r.end + 1) / 2 < cost.end) ++r.end;
    return r;
  }

  template <class S, int C, int H>
  static void head_backward(const Call<typename S::real>& call, const Worker& worker, std::int64_t head,
                            int pitch, Range queries, Range keys) {
    using real = typename S::real;
    constexpr int D = C / H;
    const std::int64_t T = call.extent.context, row = head / H * T, h = head % H;
    const real* const x = call.in(0) + row * 3 * C + h * D;
    real* const dx = call.d_in(0) + row * 3 * C + h * D;
    const detail::AttentionHead<real> tensors = {x,
                                                 x + C,
                                                 x + 2 * C,
                                                 call.out + row * C + h * D,
                                                 call.saved + row * 2 * H + h,
                                                 call.d_out + row * C + h * D,
                                                 dx,
                                                 dx + C,
                                                 dx + 2 * C,
                                                 T};
    detail::AttentionBackward<S, C, H> kernel(tensors, pitch,
                                              worker_scratch(call, StepKind::backward, T, D, worker));
    if (call.adds_to(0)) {
      kernel.add(queries, keys);
    } else {
      kernel.overwrite(queries, keys);
    }
  }
};

/// Appends attention [tokens, C] over qkv [tokens, 3C].
constexpr ValueId attention(TapeBuilder& t, Name name, ValueId qkv, int heads) {
  const Shape in = t.shape(qkv);
  require(in.kind == RowKind::tokens && in.cols % 3 == 0,
          "attention: qkv is [tokens, 3 x width]: q, k and v side by side");
  const int width = in.cols / 3;
  require(heads > 0 && width % heads == 0, "attention: the number of heads must divide the width");
  Value v = op_value(Attention::name, name, in.with_cols(width), {qkv});
  v.dims.in = width;
  v.dims.heads = heads;
  v.saved_cols = 2 * heads;
  v.cache_cols = 2 * width;
  v.needs = Needs::operand(0) | Needs::output();
  return t.add(v);
}

}  // namespace thimble
