#pragma once
/// GELU, element by element (Hendrycks and Gimpel, arXiv 1606.08415), in its two forms:
///   erf   y = x/2 (1 + erf(x / sqrt 2))
///   tanh  y = x/2 (1 + tanh(u)) = x s,  u = x (a + b x^2),  a = sqrt(2 / pi),  b = 0.044715 a
/// with s = 1 / (1 + exp(-2u)), which costs less than tanh and does not cancel.
///
/// Backward reads x and y (which the linear layer behind wants too); it overwrites or adds. With s = y / x, or 1/2 where
/// x^2 rounds to 0:
///   erf   dx = dy (s + x exp(-x^2 / 2) / sqrt(2 pi))
///   tanh  dx = dy (s + 2 x s (1 - s) (a + 3 b x^2))
/// Error: erf a few roundings of |x| (1 + erf cancels where x is below -1), tanh some 2 |u| roundings of |y|.
/// Aliasing: dx may be dy.
/// Dims: in = columns, option = the form.

#include "core/ops/elements.hpp"
#include "core/ops/gelu_arm.hpp"
#include "core/simd/functions.hpp"

namespace thimble {

enum class GeluKind : std::uint8_t { tanh, erf };

namespace detail {

/// GELU and its derivative on a vector.
template <class Vec>
struct GeluOf {
  using real = typename Vec::Real;

  THIMBLE_INLINE static Vec constant(double c) { return Vec::broadcast(real(c)); }

  THIMBLE_INLINE static Vec value(Vec x, GeluKind kind) {
    if (kind == GeluKind::tanh) return x / logistic_divisor(x, x * x);
    const Vec half = constant(0.5) * x;
    return mul_add(half, erf_of(x), half);
  }

  /// y = value(x)
  THIMBLE_INLINE static Vec derivative(Vec x, Vec y, GeluKind kind) {
    const Vec half = constant(0.5);
    const Vec s = select(x * x <= constant(0), half, y / x);
    if (kind == GeluKind::erf) return mul_add(x, constant(kInverseRootTwoPi) * exp(-(half * x) * x), s);
    // Beyond 16 the derivative is 0 or 1 in every digit, but the square may overflow. A NaN comes through.
    if constexpr (Branching<Vec>) {
      if (!Vec::are_within(x, 16)) x = clamped(x, real(-16), real(16));
    } else {
      x = clamped(x, real(-16), real(16));
    }
    return mul_add(x * mul_add(-s, s, s), mul_add(constant(6 * kB), x * x, constant(2 * kA)), s);
  }

 private:
  static constexpr double kA = kGeluA;
  static constexpr double kB = kGeluB;
  static constexpr double kInverseRootTwoPi = 0.39894228040143267794;
  static constexpr double kInverseRootTwo = 0.70710678118654752440;

  THIMBLE_INLINE static Vec erf_of(Vec x) { return thimble::erf(constant(kInverseRootTwo) * x); }
  /// 1 + exp(-2u)
  THIMBLE_INLINE static Vec logistic_divisor(Vec x, Vec square) {
    return constant(1) + exp(x * mul_add(constant(-2 * kB), square, constant(-2 * kA)));
  }
};

}  // namespace detail

struct Gelu {
  static constexpr Name name{"gelu"};

  /// exp and erf count as one each.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t n = v.shape.count(extent);
    return GeluKind(v.dims.option) == GeluKind::erf ? Flops{5 * n, 9 * n} : Flops{7 * n, 10 * n};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) {
      const double x = call.in(0)[i];
      call.out[i] = 0.5 * x * (1 + sigmoid_part(x, GeluKind(d.option)));
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; i < call.rows * d.in; ++i) {
      const double x = call.in(0)[i];
      const double f = sigmoid_part(x, GeluKind(d.option));
      double slope;  // of f
      if (GeluKind(d.option) == GeluKind::erf) {
        slope = kRootTwoOverPi * detail::reference_of(-0.5 * x * x, [](auto z) { return thimble::exp(z); });
      } else {
        slope = (1 - f) * (1 + f) * kRootTwoOverPi * (1 + 3 * 0.044715 * x * x);
      }
      detail::put_gradient(call.d_in(0)[i], call.d_out[i] * (0.5 * (1 + f) + 0.5 * x * slope),
                           call.adds_to(0));
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    Range mine = detail::element_share(call, d.in, worker);
#if THIMBLE_ARM_FPU
    if constexpr (kArm<S, d>) {
      detail::in_groups<8>(mine, [&](std::ptrdiff_t i, std::int32_t count) {
        return detail::arm_gelu(call.out + i, call.in(0) + i, count);
      }, [&](Range r) { forward_range<S, d>(call, r); });
    }
#endif
    forward_range<S, d>(call, mine);
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    if (call.d_in(0) == nullptr) return;
    Range mine = detail::element_share(call, d.in, worker);
#if THIMBLE_ARM_FPU
    if constexpr (kArm<S, d>) {
      if (!call.adds_to(0)) {
        detail::in_groups<4>(mine, [&](std::ptrdiff_t i, std::int32_t count) {
          return detail::arm_gelu_backward(call.d_in(0) + i, call.d_out + i, call.in(0) + i, call.out + i, count,
                                           detail::kArmGeluTable);
        }, [&](Range r) { backward_range<S, d>(call, r); });
      }
    }
#endif
    backward_range<S, d>(call, mine);
  }

 private:
#if THIMBLE_ARM_FPU
  template <class S, Dims d>
  static constexpr bool kArm = detail::kHasArmFpu<typename S::Vec> && GeluKind(d.option) == GeluKind::tanh;
#endif

  template <class S, Dims d, class Body>
  THIMBLE_INLINE static void in_range(Range range, Body body) {
#if THIMBLE_ARM_FPU
    if constexpr (kArm<S, d>) return detail::for_single_elements<S>(range, body);  // few are left
#endif
    detail::for_elements<S, d.in>(range, body);
  }

  template <class S, Dims d>
  static void forward_range(const Call<typename S::real>& call, Range range) {
    in_range<S, d>(range, [=](auto at) THIMBLE_INLINE_LAMBDA {
      at.store(call.out, detail::GeluOf<typename S::Vec>::value(at.load(call.in(0)), GeluKind(d.option)));
    });
  }

  template <class S, Dims d>
  static void backward_range(const Call<typename S::real>& call, Range range) {
    in_range<S, d>(range, [=](auto at) THIMBLE_INLINE_LAMBDA {
      const auto slope =
          detail::GeluOf<typename S::Vec>::derivative(at.load(call.in(0)), at.load(call.out), GeluKind(d.option));
      detail::put_gradient<S>(at, call.d_in(0), at.load(call.d_out) * slope, call.adds_to(0));
    });
  }

  static constexpr double kRootTwoOverPi = 0.79788456080286535588;

  static double sigmoid_part(double x, GeluKind kind) {
    if (kind == GeluKind::erf) {
      return detail::reference_of(x * 0.70710678118654752440, [](auto z) { return thimble::erf(z); });
    }
    return detail::reference_of(kRootTwoOverPi * (x + 0.044715 * x * x * x),
                                [](auto z) { return thimble::tanh(z); });
  }
};

/// Appends GELU of x.
constexpr ValueId gelu(TapeBuilder& t, Name name, ValueId x, GeluKind kind) {
  Value v = op_value(Gelu::name, name, t.shape(x), {x});
  v.reverse = Reverse::in_place;
  v.needs = Needs::operand(0) | Needs::output();
  v.dims = {.in = v.shape.cols, .option = int(kind)};
  return t.add(v);
}

}  // namespace thimble
