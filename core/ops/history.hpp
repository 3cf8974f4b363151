#pragma once
/// y[b, t] = x[b, t - n + 1], ..., x[b, t], side by side; zeros where the sequence has not begun. What a
/// multilayer perceptron needs to see more than one token.
///
/// Backward reads nothing: dx[b, s] = sum over t = s .. s + n - 1 of the piece of dy[b, t] that x[b, s] went
/// to. It overwrites or adds. Order of sums: t ascending. Aliasing: none. Decode remembers x in a cache, one
/// row of C per token. Dims: in = C, out = n C, option = n.

#include "core/ops/elements.hpp"

namespace thimble {

struct History {
  static constexpr Name name{"history"};

  /// A copy; backward adds n - 1 times per element of x.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    return {0, v.shape.rows(extent) * (v.dims.option - 1) * v.dims.in};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      const std::ptrdiff_t t = r % call.extent.context;
      for (int i = 0; i < d.out; ++i) {
        const int age = d.option - 1 - i / d.in;
        call.out[r * d.out + i] = age > t ? 0 : call.in(0)[(r - age) * d.in + i % d.in];
      }
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      const std::ptrdiff_t s = r % call.extent.context;
      for (int c = 0; c < d.in; ++c) {
        double sum = 0;
        for (int age = 0; age < d.option && s + age < call.extent.context; ++age) {
          sum += call.d_out[(r + age) * d.out + (d.option - 1 - age) * d.in + c];
        }
        detail::put_gradient(call.d_in(0)[r * d.in + c], sum, call.adds_to(0));
      }
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    detail::for_tokens(call, worker, [&](std::ptrdiff_t row, std::int32_t t) THIMBLE_INLINE_LAMBDA {
      for (int age = 0; age < d.option; ++age) {
        const auto* const x = age > t ? nullptr : call.in(0) + (row - age) * d.in;
        put_piece<S, d>(call.out + row * d.out, age, x, {0, d.in});
      }
    });
  }

  /// Workers split columns: each reads only what it wrote itself.
  template <class S, Dims d>
  static void decode(const Call<typename S::real>& call, const Worker& worker) {
    const Range columns = worker.share(d.in, 16);
    const auto* const x = call.in(0);
    auto* const now = call.cache + std::ptrdiff_t(call.position) * d.in;
    detail::for_elements<S>(columns, [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(now, at.load(x)); });
    for (int age = 0; age < d.option; ++age) {
      put_piece<S, d>(call.out, age, age > call.position ? nullptr : now - std::ptrdiff_t(age) * d.in, columns);
    }
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    if (call.d_in(0) == nullptr) return;
    const bool adds = call.adds_to(0);
    detail::for_tokens(call, worker, [&](std::ptrdiff_t row, std::int32_t t) THIMBLE_INLINE_LAMBDA {
      const int left = call.extent.context - t;
      const int ages = left < d.option ? left : d.option;
      const auto* const newest = call.d_out + row * d.out + (d.option - 1) * d.in;
      auto* const dx = call.d_in(0) + row * d.in;
      detail::for_elements<S>({0, d.in}, [=](auto at) THIMBLE_INLINE_LAMBDA {
        auto sum = at.load(newest);
        for (std::ptrdiff_t age = 1; age < ages; ++age) sum = sum + at.load(newest + age * (d.out - d.in));
        detail::put_gradient<S>(at, dx, sum, adds);
      });
    });
  }

 private:
  /// Columns of the piece of `out` that is `age` tokens old: x, or zeros where x is null.
  template <class S, Dims d>
  THIMBLE_INLINE static void put_piece(typename S::real* out, int age, const typename S::real* x,
                                       Range columns) {
    auto* const to = out + (d.option - 1 - age) * d.in;
    if (x == nullptr) {
      const auto zero = S::Vec::broadcast(0);
      detail::for_elements<S>(columns, [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(to, zero); });
    } else {
      detail::for_elements<S>(columns, [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(to, at.load(x)); });
    }
  }
};

/// Appends, for every token, the rows of x [B T, C] of the last n tokens: [B T, n C].
constexpr ValueId history(TapeBuilder& t, Name name, ValueId x, int n) {
  const Shape shape = t.shape(x);
  require(shape.kind == RowKind::tokens, "history: x needs one row per token");
  require(n > 0, "history: at least the token itself is remembered");
  Value v = op_value(History::name, name, shape.with_cols(n * shape.cols), {x});
  v.cache_cols = shape.cols;
  v.dims = {.in = shape.cols, .out = n * shape.cols, .option = n};
  return t.add(v);
}

}  // namespace thimble
