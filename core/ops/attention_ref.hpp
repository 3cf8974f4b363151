#pragma once
/// The reference of causal attention: plain loops in double.
///   s_ij = q_i . k_j / sqrt(D),  P_ij = exp(s_ij - m_i) / l_i for j <= i,  o_i = sum over j of P_ij v_j
///   dP_ij = dO_i . v_j,  dS_ij = P_ij (dP_ij - sum over j of P_ij dP_ij)
///   dq_i = sum over j of dS_ij k_j / sqrt(D),  dk_j = sum over i of dS_ij q_i / sqrt(D),  dv_j = sum over i
///   of P_ij dO_i

#include "core/ops/elements.hpp"
#include "core/simd/functions.hpp"

namespace thimble::detail {

/// One head of one batch row, for reference kernels.
struct ReferenceHead {
  int C, H, D;
  std::int64_t token;  ///< row of token 0
  int h;
  const Call<double>& call;

  ReferenceHead(const Call<double>& call, Dims d, std::int64_t batch_row, int head)
      : C(d.in), H(d.heads), D(d.in / d.heads), token(batch_row * call.extent.context), h(head), call(call) {}

  /// Index of a number of q (part 0), k (1) or v (2).
  std::int64_t at(int part, std::int64_t t, int i) const {
    return (token + t) * 3 * C + part * C + h * D + i;
  }
  double x(int part, std::int64_t t, int i) const { return call.in(0)[at(part, t, i)]; }
  double d_out(std::int64_t t, int i) const { return call.d_out[(token + t) * C + h * D + i]; }
  double& out(std::int64_t t, int i) const { return call.out[(token + t) * C + h * D + i]; }
  double& maximum(std::int64_t t) const { return call.saved[(token + t) * 2 * H + h]; }
  double& inverse_sum(std::int64_t t) const { return call.saved[(token + t) * 2 * H + H + h]; }

  double scale() const { return 1 / square_root(double(D)); }
  double score(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (int d = 0; d < D; ++d) sum += x(0, i, d) * x(1, j, d);
    return sum * scale();
  }
  double weight(std::int64_t i, std::int64_t j) const {
    return reference_of(score(i, j) - maximum(i), [](auto v) { return exp(v); });
  }
  double probability(std::int64_t i, std::int64_t j) const { return weight(i, j) * inverse_sum(i); }
  double d_probability(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (int d = 0; d < D; ++d) sum += d_out(i, d) * x(2, j, d);
    return sum;
  }
  double mean_d_probability(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t j = 0; j <= i; ++j) sum += probability(i, j) * d_probability(i, j);
    return sum;
  }
};

/// Calls body(ReferenceHead, index of the (batch row, head)) for all of them.
template <class Body>
void for_reference_heads(const Call<double>& call, Dims d, Body body) {
  for (std::int64_t b = 0; b < call.extent.batch; ++b) {
    for (int h = 0; h < d.heads; ++h) body(ReferenceHead(call, d, b, h), b * d.heads + h);
  }
}

inline void attention_forward_ref(const Call<double>& call, Dims d) {
  for_reference_heads(call, d, [&](const ReferenceHead& x, std::int64_t) {
    for (std::int64_t i = 0; i < call.extent.context; ++i) {
      double top = x.score(i, 0), sum = 0;
      for (std::int64_t j = 1; j <= i; ++j) top = x.score(i, j) > top ? x.score(i, j) : top;
      x.maximum(i) = top;
      for (std::int64_t j = 0; j <= i; ++j) sum += x.weight(i, j);
      x.inverse_sum(i) = 1 / sum;
      for (int c = 0; c < x.D; ++c) {
        double o = 0;
        for (std::int64_t j = 0; j <= i; ++j) o += x.probability(i, j) * x.x(2, j, c);
        x.out(i, c) = o;
      }
    }
  });
}

inline void attention_backward_ref(const Call<double>& call, Dims d) {
  double* const dx = call.d_in(0);
  for (std::int64_t i = 0; !call.adds_to(0) && i < call.rows * 3 * d.in; ++i) dx[i] = 0;
  for_reference_heads(call, d, [&](const ReferenceHead& x, std::int64_t) {
    for (std::int64_t i = 0; i < call.extent.context; ++i) {
      const double mean = x.mean_d_probability(i);
      for (std::int64_t j = 0; j <= i; ++j) {
        const double p = x.probability(i, j);
        const double d_score = p * (x.d_probability(i, j) - mean) * x.scale();
        for (int c = 0; c < x.D; ++c) {
          dx[x.at(0, i, c)] += d_score * x.x(1, j, c);
          dx[x.at(1, j, c)] += d_score * x.x(0, i, c);
          dx[x.at(2, j, c)] += p * x.d_out(i, c);
        }
      }
    }
  });
}

}  // namespace thimble::detail

namespace thimble {

/// The gradients that attention passes inside, each [B, H, T, T] (query, key): at the scaled scores, where
/// masked entries are 0; and at the probabilities, where masked entries hold dO_i . v_j like all others.
/// Takes the call of backward_ref.
inline void attention_inner_gradients(const Call<double>& call, Dims d, double* d_scores, double* d_probs) {
  const std::int64_t T = call.extent.context;
  detail::for_reference_heads(call, d, [&](const detail::ReferenceHead& x, std::int64_t head) {
    for (std::int64_t i = 0; i < T; ++i) {
      const double mean = x.mean_d_probability(i);
      for (std::int64_t j = 0; j < T; ++j) {
        const std::int64_t at = (head * T + i) * T + j;
        d_probs[at] = x.d_probability(i, j);
        d_scores[at] = j <= i ? x.probability(i, j) * (d_probs[at] - mean) : 0;
      }
    }
  });
}

}  // namespace thimble
