#pragma once
/// Causal attention with several heads (Vaswani et al., arXiv 1706.03762) that never holds T x T numbers (Dao
/// et al., arXiv 2205.14135). qkv [tokens, 3C] = q | k | v; head h has columns h D..(h + 1) D of each; out
/// [tokens, C]. Saved per row: H maxima m of the scaled scores, then H inverse sums r = 1 / l. Backward reads
/// qkv, the output and these; dqkv is overwritten or added to. Aliasing: none. Dims: in = C, heads = H.
///
/// Order of sums (the bits). A chain starts at +0 and is one mul_add a summand, ascending; pairs with j > i
/// are in none.
///   s_ij = (chain over d of q_id k_jd) scale,   scale = 1 / sqrt(D) rounded once,   m_i = max over j of s_ij
///   p_ij = exp(s_ij - m_i),   l_i = sum over j of p_ij in the row order of core/simd/lanes.hpp
///   o_id = (chain over j of p_ij v_jd) r_i
/// Backward: P_ij = p_ij r_i,   D_i = row_dot(dO_i, O_i),   dS_ij = P_ij ((chain over d of v_jd dO_id) - D_i)
///   dq_id = (chain over j of dS_ij k_jd) scale,   dk_jd = (chain over i of dS_ij q_id) scale
///   dv_jd = chain over i of P_ij dO_id

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
    const detail::AttentionBlocks blocks(options.extent.context, v.dims.in / v.dims.heads);
    const std::int64_t count = kind == StepKind::backward ? blocks.backward_scratch()
                               : kind == StepKind::decode ? blocks.decode_scratch()
                                                          : blocks.forward_scratch();
    return count * options.workers * options.real_bytes;
  }

  static void forward_ref(const Call<double>& call, Dims d) { detail::attention_forward_ref(call, d); }
  static void backward_ref(const Call<double>& call, Dims d) { detail::attention_backward_ref(call, d); }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    detail::attention_forward<S>(call, kShape<S, d>, worker);
  }
  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    detail::attention_backward<S>(call, kShape<S, d>, worker);
  }
  template <class S, Dims d>
  static void decode(const Call<typename S::real>& call, const Worker& worker) {
    detail::attention_decode<S>(call, kShape<S, d>, worker);
  }

 private:
  template <class S, Dims d>
  static constexpr detail::AttentionShape<typename S::real> kShape{d};
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
