#pragma once
/// Softmax and cross-entropy of one row of n logits:
///   loss = log(sum_j exp(l_j - max)) + (max - l_target),   d_l = softmax(l) - onehot(target)
/// d_l is the gradient of the row's own loss: nothing is divided by the number of rows. An ignored target
/// gives loss 0 and a gradient of zeros. A NaN or +infinity among the logits makes the loss NaN.
///
/// Order of sums: the maximum is exact; the exponentials are summed in the row order of core/simd/lanes.hpp;
/// softmax_j = exp_j * (1 / sum), then 1 is subtracted at the target.

#include "core/base/scalar_math.hpp"
#include "core/ops/elements.hpp"
#include "core/simd/functions.hpp"

namespace thimble::detail {

template <class S>
struct SoftmaxLoss {
  using real = typename S::real;

  static real loss(const real* logits, std::ptrdiff_t n, std::int32_t target) {
    if (target == kIgnoredTarget) return 0;
    const real top = largest(logits, n);
    const real sum = sum_of_exp(logits, n, top, [](auto, auto) THIMBLE_INLINE_LAMBDA {});
    return logarithm(sum) + (top - logits[target]);
  }

  /// The loss; the gradient goes to `d_logits`, which may be `logits`. One exponential per logit.
  static real loss_and_gradient(const real* logits, std::ptrdiff_t n, std::int32_t target, real* d_logits) {
    if (target == kIgnoredTarget) {
      for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA { at.store(d_logits, Lanes<S>::zero()); });
      return 0;
    }
    const real wanted = logits[target];
    const real top = largest(logits, n);
    const real sum = stored_exp(logits, n, top, d_logits);
    const real scale = 1 / sum;
    if constexpr (Branching<typename S::Vec>) {
      std::ptrdiff_t i = 0;
#if THIMBLE_ARM_FPU
      if constexpr (kHasArmFpu<typename S::Vec>) {
        i = n / 8 * 8;
        if (i > 0) arm_scale(d_logits, n / 8, scale);
      }
#endif
      for (; i < n; ++i) d_logits[i] *= scale;
    } else {
      for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA {
        at.store(d_logits, at.load(d_logits) * Lanes<S>::broadcast(scale));
      });
    }
    d_logits[target] -= 1;
    return logarithm(sum) + (top - wanted);
  }

  /// The loss; softmax is added to `d_logits`, another row than `logits`, before 1 is subtracted at the
  /// target.
  static real loss_and_added_gradient(const real* logits, std::ptrdiff_t n, std::int32_t target,
                                      real* d_logits) {
    if (target == kIgnoredTarget) return 0;
    const real top = largest(logits, n);
    const real sum = sum_of_exp(logits, n, top, [](auto, auto) THIMBLE_INLINE_LAMBDA {});
    const auto scale = Lanes<S>::broadcast(1 / sum);
    const auto shift = Lanes<S>::broadcast(top);
    for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA {
      at.store(d_logits, at.load(d_logits) + exp(at.load(logits) - shift) * scale);
    });
    d_logits[target] -= 1;
    return logarithm(sum) + (top - logits[target]);
  }

 private:
  /// row_max in four chains: a maximum has no order.
  static real largest(const real* x, std::ptrdiff_t n) {
    using L = Lanes<S>;
    if constexpr (Branching<typename S::Vec>) {
      real top = x[0];
#if THIMBLE_ARM_FPU
      if constexpr (kHasArmFpu<typename S::Vec>) {
        // Numbers that are not negative are ordered like their bits.
        std::int32_t most = std::bit_cast<std::int32_t>(top);
        if (n >= 8) most = arm_largest(x, n / 8, most);
        for (std::ptrdiff_t i = n & ~7; i < n; ++i) {
          const auto other = std::bit_cast<std::int32_t>(x[i]);
          most = other > most ? other : most;
        }
        if (most >= 0) return std::bit_cast<real>(most);
      }
#endif
      for (std::ptrdiff_t i = 1; i < n; ++i) top = x[i] > top ? x[i] : top;
      return top;
    }
    constexpr std::ptrdiff_t kStride = 4 * L::count;
    if (n < kStride) return row_max<S>(x, n);
    L top[4];
    for (int k = 0; k < 4; ++k) top[k] = L::load(x + k * L::count);
    std::ptrdiff_t i = kStride;
    for (; i + kStride <= n; i += kStride) {
      for (int k = 0; k < 4; ++k) top[k] = maximum(top[k], L::load(x + i + k * L::count));
    }
    const real body = maximum(maximum(top[0], top[1]), maximum(top[2], top[3])).max();
    const real rest = row_max<S>(x + i, n - i);
    return body > rest ? body : rest;
  }

  template <class Use>
  static real sum_of_exp(const real* x, std::ptrdiff_t n, real top, Use use) {
    if constexpr (Branching<typename S::Vec>) {  // an exponential is >= 0, so that lanes without one may be left out
      real sums[Lanes<S>::count] = {};
      std::ptrdiff_t i = 0;
      const auto four = [&](auto at) THIMBLE_INLINE_LAMBDA {
        const auto e = exp(at.load(x) - S::Vec::broadcast(top));
        use(at, e);
        real* const to = sums + at.index % Lanes<S>::count;
        for (int k = 0; k < S::width && at.index + k < n; ++k) to[k] = to[k] + e.lane[k];
      };
      for (; i + S::width <= n; i += S::width) four(FullVec<S>{i});
      if (i < n) four(TailVec<S>{i, int(n - i)});
      return Lanes<S>::load(sums).sum();
    }
    const auto shift = Lanes<S>::broadcast(top);
    auto sum = Lanes<S>::zero();
    for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA {
      const auto e = exp(at.load(x) - shift);
      use(at, e);
      sum = sum + at.zero_others(e);
    });
    return sum.sum();
  }

  /// The same; the exponentials go to `to`, which may be x.
  static real stored_exp(const real* x, std::ptrdiff_t n, real top, real* to) {
#if THIMBLE_ARM_FPU
    if constexpr (kHasArmFpu<typename S::Vec>) {
      using Vec = typename S::Vec;
      for (std::ptrdiff_t i = 0; to != x && i < n; ++i) to[i] = x[i];
      const real shifts[8] = {top, top, top, top, top, top, top, top};
      exp_rows(to, 8, n / 8, shifts, nullptr);
      for (std::ptrdiff_t i = n & ~7; i < n; i += S::width) {
        const int live = n - i < S::width ? int(n - i) : S::width;
        exp(Vec::load_first(to + i, live) - Vec::broadcast(top)).store_first(to + i, live);
      }
      return row_sum<S>(to, n);
    }
#endif
    return sum_of_exp(x, n, top, [&](auto at, auto e) THIMBLE_INLINE_LAMBDA { at.store(to, e); });
  }

  static real logarithm(real x) { return log(S::Vec::broadcast(x)).max_across(); }
};

/// The same in plain double, for the reference kernels. `logit(j)` gives a logit, as often as asked.
template <class Logit>
class SoftmaxLossReference {
 public:
  SoftmaxLossReference(Logit logit, std::int64_t n, std::int32_t target) : logit_(logit), target_(target) {
    if (target_ == kIgnoredTarget) return;
    top_ = logit_(0);
    for (std::int64_t j = 1; j < n; ++j) {
      const double l = logit_(j);
      top_ = l > top_ ? l : top_;
    }
    for (std::int64_t j = 0; j < n; ++j) sum_ += scalar_exp(logit_(j) - top_);
  }

  double loss() const { return target_ == kIgnoredTarget ? 0 : scalar_log(sum_) + (top_ - logit_(target_)); }
  double gradient(std::int64_t j) const {
    return target_ == kIgnoredTarget ? 0 : scalar_exp(logit_(j) - top_) / sum_ - (j == target_ ? 1 : 0);
  }

 private:
  Logit logit_;
  std::int32_t target_;
  double top_ = 0;
  double sum_ = 0;
};

}  // namespace thimble::detail
