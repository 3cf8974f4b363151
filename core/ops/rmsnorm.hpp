#pragma once
/// Root mean square normalisation of each row (Zhang and Sennrich, arXiv 1910.07467), with or without gain:
///   n = x / sqrt(mean(x^2) + eps),  y = n gain
///
/// Saved per row: 1 / sqrt(mean(x^2) + eps). Backward reads x, the gain and this; each gradient overwrites or
/// adds:
///   g = dy gain,  dx = rrms (g - n mean(g n)),  dgain = sum over rows of dy n
/// Order of sums: over a row that of core/simd/lanes.hpp, over rows that of core/ops/column_sums.hpp.
/// Error of y: (columns / 32 + 8) roundings of |y|: no term cancels. Aliasing: none.
/// Dims: in = columns, option = 1 with a gain. Scalar: eps.

#include "core/ops/column_sums.hpp"
#include "core/simd/lanes.hpp"

namespace thimble {

struct RmsNorm {
  static constexpr Name name{"rmsnorm"};

  /// Division and root count as one each, and only elements are counted.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t n = v.shape.count(extent);
    return v.dims.option ? Flops{4 * n, 11 * n} : Flops{3 * n, 7 * n};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    const int C = d.in;
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      double square = 0;
      for (int c = 0; c < C; ++c) square += call.in(0)[r * C + c] * call.in(0)[r * C + c] / C;
      call.saved[r] = 1 / square_root(square + call.scalar);
      for (int c = 0; c < C; ++c) {
        call.out[r * C + c] = call.in(0)[r * C + c] * call.saved[r] * (d.option ? call.in(1)[c] : 1);
      }
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    const int C = d.in;
    const auto n = [&](std::ptrdiff_t r, int c) { return call.in(0)[r * C + c] * call.saved[r]; };
    const auto g = [&](std::ptrdiff_t r, int c) {
      return call.d_out[r * C + c] * (d.option ? call.in(1)[c] : 1);
    };
    for (std::ptrdiff_t r = 0; call.d_in(0) != nullptr && r < call.rows; ++r) {
      double mean = 0;
      for (int c = 0; c < C; ++c) mean += g(r, c) * n(r, c) / C;
      for (int c = 0; c < C; ++c) {
        const double dx = call.saved[r] * (g(r, c) - n(r, c) * mean);
        detail::put_gradient(call.d_in(0)[r * C + c], dx, call.adds_to(0));
      }
    }
    for (int c = 0; d.option && c < C; ++c) {
      detail::reference_sum(call.rows, call.d_in(1)[c], call.adds_to(1),
                            [&](std::ptrdiff_t r) { return call.d_out[r * C + c] * n(r, c); });
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    using real = typename S::real;
    const Range rows = worker.share(call.rows);
    for (std::ptrdiff_t r = rows.begin; r < rows.end; ++r) {
      const real* const x = call.in(0) + r * d.in;
      const real rrms = real(1) / square_root(row_dot<S>(x, x, d.in) / real(d.in) + real(call.scalar));
      const auto scale = Lanes<S>::broadcast(rrms);
      real* const y = call.out + r * d.in;
      const real* const gain = call.in(1);
      for_lanes<S>(d.in, [=](auto at) THIMBLE_INLINE_LAMBDA {
        at.store(y, with_gain<d>(at, at.load(x) * scale, gain));
      });
      call.saved[r] = rrms;
    }
  }

  /// dx by rows, then dgain by columns.
  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    const Range rows = worker.share(call.rows);
    for (std::ptrdiff_t r = rows.begin; call.d_in(0) != nullptr && r < rows.end; ++r)
      row_backward<S, d>(call, r);
    if constexpr (d.option) {
      detail::sum_columns<S, 1>(
          call.rows, d.in, {call.d_in(1)}, {call.adds_to(1)}, worker,
          [=](auto at, std::ptrdiff_t r, typename S::Vec(&sums)[1]) THIMBLE_INLINE_LAMBDA {
            const auto n = at.load(call.in(0) + r * d.in) * S::Vec::broadcast(call.saved[r]);
            sums[0] = mul_add(at.load(call.d_out + r * d.in), n, sums[0]);
          });
    }
  }

 private:
  template <Dims d, class At, class L>
  THIMBLE_INLINE static L with_gain(At at, L x, const typename At::real* gain) {
    if constexpr (d.option) {
      return x * at.load(gain);
    } else {
      return x;
    }
  }

  template <class S, Dims d>
  THIMBLE_INLINE static void row_backward(const Call<typename S::real>& call, std::ptrdiff_t r) {
    using real = typename S::real;
    using L = Lanes<S>;
    const real* const x = call.in(0) + r * d.in;
    const real* const dy = call.d_out + r * d.in;
    const L scale = L::broadcast(call.saved[r]);
    L sum = L::zero();
    const real* const gain = call.in(1);
    for_lanes<S>(d.in, [&](auto at) THIMBLE_INLINE_LAMBDA {
      sum = mul_add(with_gain<d>(at, at.load(dy), gain), at.load(x) * scale, sum);
    });
    const L mean = L::broadcast(sum.sum() / real(d.in));
    real* const dx = call.d_in(0) + r * d.in;
    const bool adds = call.adds_to(0);
    for_lanes<S>(d.in, [=](auto at) THIMBLE_INLINE_LAMBDA {
      const L n = at.load(x) * scale;
      detail::put_gradient<S>(at, dx, scale * mul_add(-n, mean, with_gain<d>(at, at.load(dy), gain)), adds);
    });
  }
};

/// Appends the RMS normalisation of x [rows, C] with gain [C], or with none where that is kNoValue.
constexpr ValueId rmsnorm(TapeBuilder& t, Name name, ValueId x, ValueId gain, double eps) {
  const Shape shape = t.shape(x);
  require(gain == kNoValue || detail::is_row_of(t.shape(gain), shape.cols),
          "rmsnorm: the gain needs one number per column of x");
  require(eps > 0, "rmsnorm: eps must be positive, or a row of zeros divides by zero");
  Value v = op_value(RmsNorm::name, name, shape, {x, gain});
  v.needs = gain == kNoValue ? Needs::operand(0) : Needs::operand(0) | Needs::operand(1);
  v.saved_cols = 1;
  v.dims = {.in = shape.cols, .option = gain == kNoValue ? 0 : 1};
  v.scalar = eps;
  return t.add(v);
}

}  // namespace thimble
