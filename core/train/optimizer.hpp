#pragma once
/// Optimizer steps, a tensor at a time, and the norm of the gradient. Gradients arrive as sums over the valid
/// targets of a window; `gradient_scale` makes them clipped means. Every element is computed alone, so
/// neither the instruction set nor the number of workers shows.
///
/// AdamW (Loshchilov and Hutter, 2019; PyTorch's semantics), every operation rounded in this order:
///   m = mul_add(beta1, m, ((1 - beta1) scale) * gradient)        then 0 where |m| < kMomentFloor
///   r = (sqrt(1 - beta2) scale) * gradient
///   v = mul_add(beta2, v, r * r)                                 then 0 where v < kMomentFloor
///   direction = m / mul_add(sqrt(v), 1 / sqrt(1 - beta2^t), epsilon)
///   w = mul_add(-rate / (1 - beta1^t), direction, w * (1 - rate * decay))
/// SGD with momentum (PyTorch's semantics, decay added to the gradient):
///   g = mul_add(decay, w, gradient * scale)
///   b = mul_add(momentum, b, g)                        then 0 where |b| < kMomentFloor
///   w = mul_add(-rate, b, w)
/// A weight that decays becomes 0 below kMomentFloor too: nothing stays subnormal, which would be slow.
///
/// Norm: blocks of kNormBlock elements that never cross tensors; squares by mul_add in the row order of
/// core/simd/lanes.hpp, in `real`; the blocks' sums are added in double, in ascending order.

#include "core/ops/elements.hpp"
#include "core/plan/plan.hpp"
#include "core/simd/functions.hpp"
#include "core/train/optimizer_arm.hpp"
#include "core/train/options.hpp"

namespace thimble {

/// Moments (and decaying weights) smaller than this are 0.
inline constexpr double kMomentFloor = 0x1p-100;

/// What is wrong with the options, in words, or null.
constexpr const char* fault_of(const OptimizerOptions& o) {
  const auto usable = [](double x) { return x >= 0 && x - x == 0; };
  if (!usable(o.weight_decay)) return "the weight decay must be finite and not negative";
  if (!usable(o.clip)) return "the clipping norm must be finite and not negative";
  if (o.kind == OptimizerKind::sgd) {
    return o.momentum >= 0 && o.momentum < 1 ? nullptr : "the momentum must lie in [0, 1)";
  }
  const bool betas = o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1;
  if (!betas) return "both betas must lie in [0, 1)";
  // The square root of kMomentFloor is 9e-16.
  if (!(o.epsilon >= 1e-15) || !usable(o.epsilon)) return "epsilon must be finite and at least 1e-15";
  return nullptr;
}

/// beta1^t and beta2^t, after t steps. Powers below kMomentFloor count as 0: 1 minus either is 1.
struct BetaPowers {
  double beta1 = 1;
  double beta2 = 1;

  constexpr BetaPowers next(const OptimizerOptions& o) const {
    const auto floored = [](double x) { return x < kMomentFloor ? 0 : x; };
    return {floored(beta1 * o.beta1), floored(beta2 * o.beta2)};
  }
};

/// The numbers of one AdamW step that are the same for all elements of a tensor.
template <class real>
struct AdamWStep {
  real beta1, first_scale;   ///< (1 - beta1) times the gradient's scale
  real beta2, second_scale;  ///< sqrt(1 - beta2) times the gradient's scale
  real rate;        ///< learning rate / (1 - beta1^t)
  real root_scale;  ///< 1 / sqrt(1 - beta2^t)
  real epsilon;
  real keep;          ///< 1 - learning rate * weight decay
  real weight_floor;  ///< kMomentFloor where the weight decays, else 0

  /// For tensors that do not decay. `powers` include this step.
  AdamWStep(const OptimizerOptions& o, double learning_rate, const BetaPowers& powers, double scale)
      : beta1(real(o.beta1)),
        first_scale(real((1 - o.beta1) * scale)),
        beta2(real(o.beta2)),
        second_scale(square_root(real(1 - o.beta2)) * real(scale)),
        rate(real(learning_rate) / real(1 - powers.beta1)),
        root_scale(real(1) / square_root(real(1 - powers.beta2))),
        epsilon(real(o.epsilon)),
        keep(1),
        weight_floor(0) {}

  /// The same for those that do.
  AdamWStep decaying(const OptimizerOptions& o, double learning_rate) const {
    AdamWStep s = *this;
    s.keep = real(1 - learning_rate * o.weight_decay);
    s.weight_floor = real(o.weight_decay > 0 ? kMomentFloor : 0);
    return s;
  }
};

/// The numbers of one SGD step.
template <class real>
struct SgdStep {
  real gradient_scale;
  real momentum;
  real rate;
  real decay;
  real weight_floor;

  SgdStep(const OptimizerOptions& o, double learning_rate, double scale, bool decays)
      : gradient_scale(real(scale)),
        momentum(real(o.momentum)),
        rate(real(learning_rate)),
        decay(real(decays ? o.weight_decay : 0)),
        weight_floor(real(decays && o.weight_decay > 0 ? kMomentFloor : 0)) {}
};

/// The numbers of one step for all tensors: [0] for those that do not decay, [1] for those that do. They take divisions
/// and roots of doubles, which boards do in software, so they are computed once.
template <class real>
struct OptimizerStep {
  OptimizerKind kind;
  AdamWStep<real> adamw[2];
  SgdStep<real> sgd[2];

  /// `powers` include this step.
  OptimizerStep(const OptimizerOptions& o, double learning_rate, const BetaPowers& powers, double scale)
      : OptimizerStep(o, learning_rate, scale, AdamWStep<real>(o, learning_rate, powers, scale)) {}

 private:
  OptimizerStep(const OptimizerOptions& o, double learning_rate, double scale, const AdamWStep<real>& step)
      : kind(o.kind),
        adamw{step, step.decaying(o, learning_rate)},
        sgd{{o, learning_rate, scale, false}, {o, learning_rate, scale, true}} {}
};

/// What the gradient is multiplied by so that its norm does not exceed `clip`, as PyTorch's clip_grad_norm_
/// has it; 1 where clip is 0.
constexpr double clip_scale(double norm, double clip) {
  const double scale = clip / (norm + 1e-6);
  return clip > 0 && scale < 1 ? scale : 1;
}

/// Number of blocks of a tensor, whose sums of squares lie one after the other.
THIMBLE_INLINE constexpr std::ptrdiff_t norm_blocks(std::ptrdiff_t count) {
  return (count + kNormBlock - 1) / kNormBlock;
}

/// Norm from the sums of all blocks of all tensors. Not finite where a gradient is not, or its square
/// overflows.
inline double gradient_norm(const double* block_sums, std::ptrdiff_t count) {
  double sum = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) sum += block_sums[i];
  return square_root(sum);
}

namespace detail {

/// x, or 0 where it is smaller than `floor`.
template <class Vec>
THIMBLE_INLINE Vec floored(Vec x, typename Vec::Real floor) {
  if constexpr (Branching<Vec>) {
    if (Vec::none_below(x, floor)) return x;
  }
  return select(absolute(x) < Vec::broadcast(floor), Vec::broadcast(0), x);
}

}  // namespace detail

/// Sums of squares of this worker's blocks of a gradient.
template <class S>
void sum_squares(const typename S::real* gradient, std::ptrdiff_t count, double* block_sums,
                 const Worker& worker) {
  const Range mine = worker.share(norm_blocks(count));
  for (std::ptrdiff_t b = mine.begin; b < mine.end; ++b) {
    const std::ptrdiff_t left = count - b * kNormBlock;
    const auto* const block = gradient + b * kNormBlock;
    block_sums[b] = double(row_dot<S>(block, block, left < kNormBlock ? left : kNormBlock));
  }
}

/// One AdamW step on this worker's part of a tensor of `count` elements.
template <class S>
void adamw_update(typename S::real* weight, const typename S::real* gradient, typename S::real* first_moment,
                  typename S::real* second_moment, std::ptrdiff_t count,
                  const AdamWStep<typename S::real>& step, const Worker& worker) {
  using Vec = typename S::Vec;
  using real = typename S::real;
#if THIMBLE_ARM_FPU
  if constexpr (detail::kHasArmFpu<Vec>) {
    static_assert(sizeof(step) == 9 * sizeof(float) && real(kMomentFloor) == detail::kArmMomentFloor);
    return detail::arm_adamw_range(weight, gradient, first_moment, second_moment, worker.share(count, 16), step);
  }
#endif
  const Vec beta1 = Vec::broadcast(step.beta1), first_scale = Vec::broadcast(step.first_scale);
  const Vec beta2 = Vec::broadcast(step.beta2), second_scale = Vec::broadcast(step.second_scale);
  const Vec rate = Vec::broadcast(-step.rate);
  const Vec root_scale = Vec::broadcast(step.root_scale), epsilon = Vec::broadcast(step.epsilon);
  const Vec keep = Vec::broadcast(step.keep);
  constexpr real floor = real(kMomentFloor);
  detail::for_elements<S>(worker.share(count, 16), [&](auto at) THIMBLE_INLINE_LAMBDA {
    const Vec g = at.load(gradient), r = second_scale * g;
    const Vec m = detail::floored(mul_add(beta1, at.load(first_moment), first_scale * g), floor);
    const Vec v = detail::floored(mul_add(beta2, at.load(second_moment), r * r), floor);
    const Vec direction = m / mul_add(square_root(v), root_scale, epsilon);
    const Vec w = mul_add(rate, direction, at.load(weight) * keep);
    at.store(first_moment, m);
    at.store(second_moment, v);
    at.store(weight, detail::floored(w, step.weight_floor));
  });
}

/// One SGD step on this worker's part of a tensor; `momentum` is null where the momentum is 0.
template <class S>
void sgd_update(typename S::real* weight, const typename S::real* gradient, typename S::real* momentum,
                std::ptrdiff_t count, const SgdStep<typename S::real>& step, const Worker& worker) {
  using Vec = typename S::Vec;
  using real = typename S::real;
  const Vec scale = Vec::broadcast(step.gradient_scale), rate = Vec::broadcast(-step.rate);
  const Vec mu = Vec::broadcast(step.momentum), decay = Vec::broadcast(step.decay);
  constexpr real floor = real(kMomentFloor);
  const auto update = [&](auto at) THIMBLE_INLINE_LAMBDA {
    const Vec w = at.load(weight);
    Vec b = mul_add(decay, w, at.load(gradient) * scale);
    if (momentum != nullptr) {
      b = detail::floored(mul_add(mu, at.load(momentum), b), floor);
      at.store(momentum, b);
    }
    at.store(weight, detail::floored(mul_add(rate, b, w), step.weight_floor));
  };
  const Range mine = worker.share(count, 16);
  if constexpr (detail::Branching<Vec>) {  // one loop, for the size of the code
    detail::for_single_elements<S>(mine, update);
  } else {
    detail::for_elements<S>(mine, update);
  }
}

/// The update of one instruction set.
template <class real>
struct UpdateKernels {
  decltype(&sum_squares<Simd<real, Plain<Profile::fused>>>) sum_squares = nullptr;
  decltype(&adamw_update<Simd<real, Plain<Profile::fused>>>) adamw = nullptr;
  decltype(&sgd_update<Simd<real, Plain<Profile::fused>>>) sgd = nullptr;
};

template <class S>
inline constexpr UpdateKernels<typename S::real> update_kernels = {&sum_squares<S>, &adamw_update<S>,
                                                                   &sgd_update<S>};

}  // namespace thimble
