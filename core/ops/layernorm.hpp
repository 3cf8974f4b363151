#pragma once
/// Layer normalisation of each row (Ba, Kiros and Hinton, arXiv 1607.06450), with gain and bias:
///   n = (x - mean) / sqrt(variance + eps),  y = n gain + bias
/// The variance is the mean of (x - mean)^2, in a second pass: a large offset does not cancel it away.
///
/// Saved per row: mean, 1 / sqrt(variance + eps). Backward reads x, gain and these; each gradient overwrites
/// or adds:
///   g = dy gain,  dx = rstd (g - mean(g) - n mean(g n)),  dgain = sum over rows of dy n,  dbias = sum of dy
/// Order of sums: over a row that of core/simd/lanes.hpp, over rows that of core/ops/column_sums.hpp.
/// Error of y: (columns / 16 + 8) roundings of |gain| max|x| rstd + |bias|. Aliasing: none.
/// Dims: in = columns. Scalar: eps.

#include "core/ops/column_sums.hpp"
#include "core/ops/layernorm_arm.hpp"
#include "core/simd/lanes.hpp"

namespace thimble {

struct LayerNorm {
  static constexpr Name name{"layernorm"};

  /// Division and root count as one each, and only elements are counted.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t n = v.shape.count(extent);
    return {8 * n, 14 * n};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    const int C = d.in;
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      const double* x = call.in(0) + r * C;
      double mean = 0, variance = 0;
      for (int c = 0; c < C; ++c) mean += x[c] / C;
      for (int c = 0; c < C; ++c) variance += (x[c] - mean) * (x[c] - mean) / C;
      const double rstd = 1 / square_root(variance + call.scalar);
      for (int c = 0; c < C; ++c) call.out[r * C + c] = (x[c] - mean) * rstd * call.in(1)[c] + call.in(2)[c];
      call.saved[2 * r] = mean;
      call.saved[2 * r + 1] = rstd;
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    const int C = d.in;
    const double* dy = call.d_out;
    const auto n = [&](std::ptrdiff_t r, int c) {
      return (call.in(0)[r * C + c] - call.saved[2 * r]) * call.saved[2 * r + 1];
    };
    for (std::ptrdiff_t r = 0; call.d_in(0) != nullptr && r < call.rows; ++r) {
      double mean_g = 0, mean_gn = 0;
      for (int c = 0; c < C; ++c) {
        mean_g += dy[r * C + c] * call.in(1)[c] / C;
        mean_gn += dy[r * C + c] * call.in(1)[c] * n(r, c) / C;
      }
      for (int c = 0; c < C; ++c) {
        const double g = dy[r * C + c] * call.in(1)[c];
        detail::put_gradient(call.d_in(0)[r * C + c],
                             call.saved[2 * r + 1] * (g - mean_g - n(r, c) * mean_gn), call.adds_to(0));
      }
    }
    for (int c = 0; c < C; ++c) {
      detail::reference_sum(call.rows, call.d_in(1)[c], call.adds_to(1),
                            [&](std::ptrdiff_t r) { return dy[r * C + c] * n(r, c); });
      detail::reference_sum(call.rows, call.d_in(2)[c], call.adds_to(2),
                            [&](std::ptrdiff_t r) { return dy[r * C + c]; });
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    using real = typename S::real;
    const Range rows = worker.share(call.rows);
#if THIMBLE_ARM_FPU
    if constexpr (detail::kHasArmFpu<typename S::Vec> && d.in == 16) {
      if (rows.size() > 0) {
        detail::arm_layernorm(arm_rows(call, rows), call.out + rows.begin * 16, {.eps = real(call.scalar)});
      }
      return;
    }
#endif
    for (std::ptrdiff_t r = rows.begin; r < rows.end; ++r) {
      const real* const x = call.in(0) + r * d.in;
      const real mean = row_sum<S>(x, d.in) / real(d.in);
      const real variance = sum_of_squares<S>(x, d.in, mean) / real(d.in);
      const real rstd = real(1) / square_root(variance + real(call.scalar));
      real* const y = call.out + r * d.in;
      const real* const gain = call.in(1);
      const real* const bias = call.in(2);
      detail::for_row<S, d.in>([=](auto at) THIMBLE_INLINE_LAMBDA {
        using V = decltype(at.load(x));
        const V n = (at.load(x) - V::broadcast(mean)) * V::broadcast(rstd);
        at.store(y, mul_add(n, at.load(gain), at.load(bias)));
      });
      call.saved[2 * r] = mean;
      call.saved[2 * r + 1] = rstd;
    }
  }

  /// dx by rows, then dgain and dbias by columns.
  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
#if THIMBLE_ARM_FPU
    if constexpr (detail::kHasArmFpu<typename S::Vec> && d.in == 16) {
      return arm_backward(call, worker);
    }
#endif
    const Range rows = worker.share(call.rows);
    for (std::ptrdiff_t r = rows.begin; call.d_in(0) != nullptr && r < rows.end; ++r)
      row_backward<S, d>(call, r);
    detail::sum_columns<S, 2>(
        call.rows, d.in, {call.d_in(1), call.d_in(2)}, {call.adds_to(1), call.adds_to(2)}, worker,
        [=](auto at, std::ptrdiff_t r, typename S::Vec(&sums)[2]) THIMBLE_INLINE_LAMBDA {
          const auto dy = at.load(call.d_out + r * d.in);
          const auto centred = at.load(call.in(0) + r * d.in) - S::Vec::broadcast(call.saved[2 * r]);
          sums[0] = mul_add(dy, centred * S::Vec::broadcast(call.saved[2 * r + 1]), sums[0]);
          sums[1] = sums[1] + dy;
        });
  }

 private:
#if THIMBLE_ARM_FPU
  static detail::ArmLayerNorm arm_rows(const Call<float>& call, const Range& rows) {
    return {call.in(0) + rows.begin * 16, call.in(1), call.in(2), call.saved + rows.begin * 2, rows.size()};
  }

  /// Rows and sums at once, by the first worker: boards have no other.
  static void arm_backward(const Call<float>& call, const Worker& worker) {
    if (worker.index != 0) return;
    std::ptrdiff_t r = 0;
    do {
      const bool first = r == 0;
      const std::ptrdiff_t end = r + kSumBlock < call.rows ? r + std::ptrdiff_t(kSumBlock) : call.rows;
      detail::ArmNormSums sums = {};
      float nowhere[16];
      for (std::ptrdiff_t next; r < end; r = next) {
        const bool wanted = call.d_in(0) != nullptr;
        next = wanted ? end : r + 1;
        detail::arm_layernorm_backward(arm_rows(call, {r, next}), call.d_out + r * 16,
                                       wanted ? call.d_in(0) + r * 16 : nowhere, wanted && call.adds_to(0), sums);
      }
      for (int k = 0; k < 2; ++k) {
        float* const to = call.d_in(1 + k);
        for (int c = 0; to != nullptr && c < 16; ++c) {
          const float sum = sums.half[c / 8].sum[k][c % 8];
          to[c] = call.adds_to(1 + k) || !first ? to[c] + sum : sum;
        }
      }
    } while (r < call.rows);
  }
#endif

  template <class S>
  THIMBLE_INLINE static typename S::real sum_of_squares(const typename S::real* x, int cols,
                                                        typename S::real mean) {
    const auto shift = Lanes<S>::broadcast(mean);
    auto sum = Lanes<S>::zero();
    for_lanes<S>(cols, [&](auto at) THIMBLE_INLINE_LAMBDA {
      const auto centred = at.zero_others(at.load(x) - shift);
      sum = mul_add(centred, centred, sum);
    });
    return sum.sum();
  }

  template <class S, Dims d>
  THIMBLE_INLINE static void row_backward(const Call<typename S::real>& call, std::ptrdiff_t r) {
    using real = typename S::real;
    using L = Lanes<S>;
    const real* const x = call.in(0) + r * d.in;
    const real* const dy = call.d_out + r * d.in;
    const real* const gain = call.in(1);
    const real mean = call.saved[2 * r], rstd = call.saved[2 * r + 1];
    L sum_g = L::zero(), sum_gn = L::zero();
    for_lanes<S>(d.in, [&](auto at) THIMBLE_INLINE_LAMBDA {
      const L g = at.load(dy) * at.load(gain);
      sum_g = sum_g + g;
      sum_gn = mul_add(g, (at.load(x) - L::broadcast(mean)) * L::broadcast(rstd), sum_gn);
    });
    const real mean_g = sum_g.sum() / real(d.in);
    const real mean_gn = sum_gn.sum() / real(d.in);
    real* const dx = call.d_in(0) + r * d.in;
    const bool adds = call.adds_to(0);
    detail::for_row<S, d.in>([=](auto at) THIMBLE_INLINE_LAMBDA {
      using V = decltype(at.load(x));
      const V scale = V::broadcast(rstd);
      const V g = at.load(dy) * at.load(gain);
      const V n = (at.load(x) - V::broadcast(mean)) * scale;
      detail::put_gradient<S>(at, dx, scale * mul_add(-n, V::broadcast(mean_gn), g - V::broadcast(mean_g)), adds);
    });
  }
};

/// Appends the layer normalisation of x [rows, C] with gain [C] and bias [C].
constexpr ValueId layernorm(TapeBuilder& t, Name name, ValueId x, ValueId gain, ValueId bias, double eps) {
  const Shape shape = t.shape(x);
  require(detail::is_row_of(t.shape(gain), shape.cols),
          "layernorm: the gain needs one number per column of x");
  require(detail::is_row_of(t.shape(bias), shape.cols),
          "layernorm: the bias needs one number per column of x");
  require(eps > 0, "layernorm: eps must be positive, or a constant row divides by zero");
  Value v = op_value(LayerNorm::name, name, shape, {x, gain, bias});
  v.needs = Needs::operand(0) | Needs::operand(1);
  v.saved_cols = 2;
  v.dims.in = shape.cols;
  v.scalar = eps;
  return t.add(v);
}

}  // namespace thimble
