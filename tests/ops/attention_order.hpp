#pragma once
/// Attention in the written order of its sums, one number after the other.

#include <limits>

#include "core/simd/functions.hpp"
#include "tests/ops/op_run.hpp"

namespace thimble_test {

template <thimble::Profile P, class real>
class AttentionInOrder {
 public:
  AttentionInOrder(const Problem& p, bool adds)
      : p_(p), adds_(adds), C(p.value().dims.in), H(p.value().dims.heads) {
    T = p.run.context;
    D = C / H;
    x_.assign(p.values[0].begin(), p.values[0].end());
    d_out_.assign(p.d_out.begin(), p.d_out.end());
    result.out.resize(p.count(p.value(), p.run));
    result.saved.resize(std::size_t(p.run.tokens() * 2 * H));
    result.gradients[0].assign(p.old_gradients[0].begin(),
                               p.old_gradients[0].begin() + std::ptrdiff_t(p.count(p.operand(0), p.run)));
    for (int b = 0; b < p.run.batch; ++b) {
      for (int h = 0; h < H; ++h) head(b, h);
    }
  }

  Result<real> result;

 private:
  static real mul_add(real a, real b, real c) { return thimble::mul_add<P>(a, b, c); }
  static real exp(real x) {
    return thimble::exp(thimble::Vec<real, thimble::Plain<P>>::broadcast(x)).lane[0];
  }
  /// Sixteen sums, then lane i takes lane i + 8, i + 4, i + 2, i + 1.
  struct Lanes {
    real lane[16] = {};
    real sum() {
      for (int half = 8; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
      }
      return lane[0];
    }
  };
  std::size_t at(int part, int t, int d) const {
    return std::size_t((row_ + t) * 3 * C + part * C + h_ * D + d);
  }
  std::size_t out_at(int t, int d) const { return std::size_t((row_ + t) * C + h_ * D + d); }
  real x(int part, int t, int d) const { return x_[at(part, t, d)]; }
  void put(int part, int t, int d, real g) {
    real& to = result.gradients[0][at(part, t, d)];
    to = adds_ ? to + g : g;
  }

  void head(int b, int h) {
    row_ = b * T;
    h_ = h;
    scale_ = real(1 / std::sqrt(static_cast<long double>(D)));
    score_.assign(std::size_t(T * T), 0);
    weight_ = d_score_ = score_;
    for (int i = 0; i < T; ++i) forward(i);
    for (int i = 0; i < T; ++i) score_gradients(i);
    for (int i = 0; i < T; ++i) gradients(i);
  }

  void forward(int i) {
    real top = -std::numeric_limits<real>::infinity();
    for (int j = 0; j <= i; ++j) {
      real s = 0;
      for (int d = 0; d < D; ++d) s = mul_add(x(0, i, d), x(1, j, d), s);
      score_[std::size_t(i * T + j)] = s * scale_;
      if (s * scale_ > top) top = s * scale_;
    }
    Lanes sum;
    for (int j = 0; j <= i; ++j) {
      real& w = weight_[std::size_t(i * T + j)];
      w = exp(score_[std::size_t(i * T + j)] - top);
      sum.lane[j % 16] += w;
    }
    const real inverse = 1 / sum.sum();
    for (int d = 0; d < D; ++d) {
      real o = 0;
      for (int j = 0; j <= i; ++j) o = mul_add(weight_[std::size_t(i * T + j)], x(2, j, d), o);
      result.out[out_at(i, d)] = o * inverse;
    }
    result.saved[std::size_t((row_ + i) * 2 * H + h_)] = top;
    result.saved[std::size_t((row_ + i) * 2 * H + H + h_)] = inverse;
  }

  void score_gradients(int i) {
    const real inverse = result.saved[std::size_t((row_ + i) * 2 * H + H + h_)];
    Lanes dot;
    for (int d = 0; d < D; ++d) {
      dot.lane[d % 16] = mul_add(d_out_[out_at(i, d)], result.out[out_at(i, d)], dot.lane[d % 16]);
    }
    const real mean = dot.sum();
    for (int j = 0; j <= i; ++j) {
      real g = 0;
      for (int d = 0; d < D; ++d) g = mul_add(x(2, j, d), d_out_[out_at(i, d)], g);
      real& p = weight_[std::size_t(i * T + j)];
      p = p * inverse;
      d_score_[std::size_t(i * T + j)] = p * (g - mean);
    }
  }

  void gradients(int t) {
    for (int d = 0; d < D; ++d) {
      real q = 0, k = 0, v = 0;
      for (int j = 0; j <= t; ++j) q = mul_add(d_score_[std::size_t(t * T + j)], x(1, j, d), q);
      for (int i = t; i < T; ++i) {
        k = mul_add(d_score_[std::size_t(i * T + t)], x(0, i, d), k);
        v = mul_add(weight_[std::size_t(i * T + t)], d_out_[out_at(i, d)], v);
      }
      put(0, t, d, q * scale_);
      put(1, t, d, k * scale_);
      put(2, t, d, v);
    }
  }

  const Problem& p_;
  bool adds_;
  int C, H, D, T;
  int row_ = 0, h_ = 0;
  real scale_ = 0;
  std::vector<real> x_, d_out_, score_, weight_, d_score_;  ///< the last three [query, key]
};

}  // namespace thimble_test
