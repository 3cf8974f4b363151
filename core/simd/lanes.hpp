#pragma once
/// Sixteen virtual lanes, the same on every machine: 1, 2 or 4 native vectors. Rows are walked sixteen
/// numbers at a time; element i belongs to lane i % 16, so a sum over a row has one order whatever the
/// processor's width is.
///
/// A row reduction in full: every lane adds its elements in ascending order, lanes of a short tail add a
/// zero, then lane i takes lane i + 8, i + 4, i + 2, i + 1 in turn.

#include <cstddef>
#include <utility>

#include "core/simd/simd.hpp"

namespace thimble {

/// Sixteen numbers that one operation treats alike.
template <class S>
struct Lanes {
  using real = typename S::real;
  using Vec = typename S::Vec;
  static constexpr int count = 16;
  static constexpr int parts = count / S::width;
  /// Are rare things done by a loop over the lanes, for the size of the code? Those in plain C++ can be.
  static constexpr bool kLoops = requires(Vec v) {
    v.lane[0];
  };
  static_assert(parts * S::width == count, "a native vector must hold 4, 8 or 16 lanes");
  struct Mask {
    typename Vec::Mask part[parts];
  };

  Vec part[parts];

  THIMBLE_INLINE static Lanes broadcast(real x) {
    return each([&](int) THIMBLE_INLINE_LAMBDA { return Vec::broadcast(x); });
  }
  THIMBLE_INLINE static Lanes zero() { return broadcast(0); }
  THIMBLE_INLINE static Lanes load(const real* p) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return Vec::load(p + k * S::width); });
  }
  /// The first n numbers at p, `others` in the lanes behind them; reads nothing beyond. 0 <= n <= 16.
  THIMBLE_INLINE static Lanes load_first(const real* p, int n, real others = 0) {
    if constexpr (kLoops) {
      real lane[count];
      for (int i = 0; i < count; ++i) lane[i] = i < n ? p[i] : others;
      return load(lane);
    }
    return each([&](int k) THIMBLE_INLINE_LAMBDA {
      const int m = lanes_of(k, n);
      const real* q = m > 0 ? p + k * S::width : p;
      return others == 0 ? Vec::load_first(q, m) : Vec::load_first(q, m, Vec::broadcast(others));
    });
  }
  THIMBLE_INLINE void store(real* p) const {
    for (int k = 0; k < parts; ++k) part[k].store(p + k * S::width);
  }
  THIMBLE_INLINE void store_first(real* p, int n) const {
    if constexpr (kLoops) {
      real lane[count];
      store(lane);
      for (int i = 0; i < n; ++i) p[i] = lane[i];
      return;
    }
    for (int k = 0; k < parts && k * S::width < n; ++k) part[k].store_first(p + k * S::width, lanes_of(k, n));
  }
  /// The first n lanes, zeros behind them.
  THIMBLE_INLINE Lanes first(int n) const {
    if constexpr (kLoops) {
      real lane[count] = {};
      store_first(lane, n);
      return load(lane);
    }
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return part[k].first(lanes_of(k, n)); });
  }

  THIMBLE_INLINE friend Lanes operator+(Lanes a, Lanes b) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return a.part[k] + b.part[k]; });
  }
  THIMBLE_INLINE friend Lanes operator-(Lanes a, Lanes b) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return a.part[k] - b.part[k]; });
  }
  THIMBLE_INLINE friend Lanes operator*(Lanes a, Lanes b) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return a.part[k] * b.part[k]; });
  }
  THIMBLE_INLINE friend Lanes operator/(Lanes a, Lanes b) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return a.part[k] / b.part[k]; });
  }
  THIMBLE_INLINE friend Lanes operator-(Lanes a) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return -a.part[k]; });
  }
  /// a * b + c with the roundings of the profile.
  THIMBLE_INLINE friend Lanes mul_add(Lanes a, Lanes b, Lanes c) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return mul_add(a.part[k], b.part[k], c.part[k]); });
  }
  THIMBLE_INLINE friend Lanes square_root(Lanes a) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return square_root(a.part[k]); });
  }
  THIMBLE_INLINE friend Lanes absolute(Lanes a) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return absolute(a.part[k]); });
  }
  /// a > b ? a : b, so the second where either is NaN.
  THIMBLE_INLINE friend Lanes maximum(Lanes a, Lanes b) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return maximum(a.part[k], b.part[k]); });
  }
  /// a < b ? a : b, so the second where either is NaN.
  THIMBLE_INLINE friend Lanes minimum(Lanes a, Lanes b) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return minimum(a.part[k], b.part[k]); });
  }
  THIMBLE_INLINE friend Mask operator<(Lanes a, Lanes b) {
    return test([&](int k) THIMBLE_INLINE_LAMBDA { return a.part[k] < b.part[k]; });
  }
  THIMBLE_INLINE friend Mask operator<=(Lanes a, Lanes b) {
    return test([&](int k) THIMBLE_INLINE_LAMBDA { return a.part[k] <= b.part[k]; });
  }
  THIMBLE_INLINE friend Mask is_nan(Lanes a) {
    return test([&](int k) THIMBLE_INLINE_LAMBDA { return is_nan(a.part[k]); });
  }
  THIMBLE_INLINE friend Lanes select(Mask m, Lanes yes, Lanes no) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return select(m.part[k], yes.part[k], no.part[k]); });
  }
  /// |x| with the sign of s.
  THIMBLE_INLINE friend Lanes copy_sign(Lanes x, Lanes s) {
    return each([&](int k) THIMBLE_INLINE_LAMBDA { return copy_sign(x.part[k], s.part[k]); });
  }

  /// f of every native vector: how a function on `Vec` is lifted to sixteen lanes. Where there are many, it
  /// is a loop, for the size of the code.
  template <class F>
  THIMBLE_INLINE friend Lanes map(Lanes a, F f) {
    if constexpr (parts <= 2) {
      return each([&](int k) THIMBLE_INLINE_LAMBDA { return f(a.part[k]); });
    } else {
      for (int k = 0; k < parts; ++k) a.part[k] = f(a.part[k]);
      return a;
    }
  }

  /// The sum of the lanes: lane i takes lane i + 8, then i + 4, i + 2, i + 1.
  THIMBLE_INLINE real sum() const {
    return fold([](Vec a, Vec b) THIMBLE_INLINE_LAMBDA { return a + b; }).sum_across();
  }
  /// The maximum of the lanes in the same tree, each step `maximum(lane i, lane i + n)`.
  THIMBLE_INLINE real max() const {
    return fold([](Vec a, Vec b) THIMBLE_INLINE_LAMBDA { return maximum(a, b); }).max_across();
  }

 private:
  // The parts are written out, not looped over, so that they live in registers.
  template <class F>
  THIMBLE_INLINE static Lanes each(F f) {
    return [&]<int... k>(std::integer_sequence<int, k...>) THIMBLE_INLINE_LAMBDA {
      return Lanes{{f(k)...}};
    }
    (std::make_integer_sequence<int, parts>{});
  }
  template <class F>
  THIMBLE_INLINE static Mask test(F f) {
    return [&]<int... k>(std::integer_sequence<int, k...>) THIMBLE_INLINE_LAMBDA {
      return Mask{{f(k)...}};
    }
    (std::make_integer_sequence<int, parts>{});
  }
  /// How many of the first n lanes native vector k holds.
  THIMBLE_INLINE static constexpr int lanes_of(int k, int n) {
    const int left = n - k * S::width;
    return left < 0 ? 0 : left < S::width ? left : S::width;
  }
  /// The upper half of the vectors folded onto the lower one until a single vector is left.
  template <class F>
  THIMBLE_INLINE Vec fold(F f) const {
    if constexpr (parts == 1) {
      return part[0];
    } else if constexpr (parts == 2) {
      return f(part[0], part[1]);
    } else {
      static_assert(parts == 4);
      return f(f(part[0], part[2]), f(part[1], part[3]));
    }
  }
};

/// Sixteen elements of a row, from `index` on.
template <class S>
struct FullLanes {
  using real = typename S::real;
  std::ptrdiff_t index;

  THIMBLE_INLINE Lanes<S> load(const real* row, real = 0) const { return Lanes<S>::load(row + index); }
  THIMBLE_INLINE void store(real* row, Lanes<S> x) const { x.store(row + index); }
  THIMBLE_INLINE Lanes<S> zero_others(Lanes<S> x) const { return x; }
};

/// The last `live` < 16 elements of a row, from `index` on.
template <class S>
struct TailLanes {
  using real = typename S::real;
  std::ptrdiff_t index;
  int live;

  /// The lanes that lie beyond the row get `others`.
  THIMBLE_INLINE Lanes<S> load(const real* row, real others = 0) const {
    return Lanes<S>::load_first(row + index, live, others);
  }
  THIMBLE_INLINE void store(real* row, Lanes<S> x) const { x.store_first(row + index, live); }
  /// x with zeros in the lanes that lie beyond the row: what a sum must use for terms that are not zero
  /// there.
  THIMBLE_INLINE Lanes<S> zero_others(Lanes<S> x) const { return x.first(live); }
};

/// Calls `body(at)` for every sixteen elements of a row of n and for the tail, if any; `at` loads and stores
/// them.
template <class S, class Body>
THIMBLE_INLINE void for_lanes(std::ptrdiff_t n, Body body) {
  std::ptrdiff_t i = 0;
  for (; i + Lanes<S>::count <= n; i += Lanes<S>::count) body(FullLanes<S>{i});
  if (i < n) body(TailLanes<S>{i, int(n - i)});
}

/// The sum of a row of n, in the row order.
template <class S>
THIMBLE_INLINE typename S::real row_sum(const typename S::real* x, std::ptrdiff_t n) {
#if THIMBLE_ARM_FPU
  if constexpr (detail::kHasArmFpu<typename S::Vec>) {
    if (n > 0 && n % Lanes<S>::count == 0) return detail::arm_row_sum(x, n / Lanes<S>::count);
    float lane[Lanes<S>::count] = {};
    for (std::ptrdiff_t i = 0; i < n; ++i) lane[i % Lanes<S>::count] = lane[i % Lanes<S>::count] + x[i];
    return Lanes<S>::load(lane).sum();
  }
#endif
  auto sum = Lanes<S>::zero();
  for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA { sum = sum + at.load(x); });
  return sum.sum();
}

namespace detail {

/// row_dot, called: where sixteen lanes are a lot of code.
template <class S>
[[gnu::noinline]] typename S::real called_row_dot(const typename S::real* x, const typename S::real* y,
                                                  std::ptrdiff_t n) {
  using L = Lanes<S>;
#if THIMBLE_ARM_FPU
  if constexpr (kHasArmFpu<typename S::Vec>) {
    if (n == 8) return arm_row_dot_of_eight(x, y);
    if (n > 0 && n % 8 == 0) return arm_row_dot(x, y, n / 8);
    float lane[L::count] = {};
    for (std::ptrdiff_t i = 0; i < n; ++i) lane[i % L::count] = S::mul_add(x[i], y[i], lane[i % L::count]);
    return L::load(lane).sum();
  }
#endif
  typename S::real lane[L::count];
  const std::ptrdiff_t whole = n / L::count * L::count;
  auto sum = L::zero();
  for (std::ptrdiff_t i = 0; i < whole; i += L::count) sum = mul_add(L::load(x + i), L::load(y + i), sum);
  sum.store(lane);
  if (whole < n) {
    int k = 0;
    for (; whole + k < n; ++k) lane[k] = S::mul_add(x[whole + k], y[whole + k], lane[k]);
    for (; k < L::count; ++k) lane[k] = lane[k] + 0;
  }
  return L::load(lane).sum();
}

}  // namespace detail

/// The scalar product of two rows of n, in the row order, by mul_add.
template <class S>
THIMBLE_INLINE typename S::real row_dot(const typename S::real* x, const typename S::real* y,
                                        std::ptrdiff_t n) {
  if constexpr (Lanes<S>::kLoops) return detail::called_row_dot<S>(x, y, n);
  auto sum = Lanes<S>::zero();
  for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA { sum = mul_add(at.load(x), at.load(y), sum); });
  return sum.sum();
}

/// The largest number of a row of n, minus infinity for an empty one. A NaN may or may not come through.
template <class S>
THIMBLE_INLINE typename S::real row_max(const typename S::real* x, std::ptrdiff_t n) {
  constexpr auto lowest = -std::numeric_limits<typename S::real>::infinity();
  auto top = Lanes<S>::broadcast(lowest);
  for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA { top = maximum(top, at.load(x, lowest)); });
  return top.max();
}

}  // namespace thimble
