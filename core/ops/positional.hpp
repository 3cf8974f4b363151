#pragma once
/// y[b, t] = x[b, t] + table[t]: learned positions.
///
/// Backward reads nothing: dx = dy, whose storage may be dy's own, and dtable[t] = sum over b of dy[b, t], 0
/// beyond the run's context. Each overwrites or adds. Order of sums: sequences in ascending order, from the
/// first one. Aliasing: dx may be dy, out of place otherwise. Dims: in = T (rows of the table), out = C.

#include "core/ops/elements.hpp"

namespace thimble {

struct Positional {
  static constexpr Name name{"positional"};

  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t n = v.shape.count(extent);
    return {n, n};
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      for (int c = 0; c < d.out; ++c) {
        call.out[r * d.out + c] = call.in(0)[r * d.out + c] + call.in(1)[r % call.extent.context * d.out + c];
      }
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; call.d_in(0) != nullptr && i < call.rows * d.out; ++i) {
      detail::put_gradient(call.d_in(0)[i], call.d_out[i], call.adds_to(0));
    }
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(d.in) * d.out; ++i) {
      double sum = 0;
      const std::ptrdiff_t context = std::ptrdiff_t(call.extent.context) * d.out;
      for (std::ptrdiff_t j = i; i < context && j < call.rows * d.out; j += context) sum += call.d_out[j];
      detail::put_gradient(call.d_in(1)[i], sum, call.adds_to(1));
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    detail::for_tokens(call, worker, [&](std::ptrdiff_t row, std::int32_t t) THIMBLE_INLINE_LAMBDA {
      add_row<S, d>(call, row, t);
    });
  }

  template <class S, Dims d>
  static void decode(const Call<typename S::real>& call, const Worker& worker) {
    if (worker.index == 0) add_row<S, d>(call, 0, call.position);
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    table_gradient<S, d>(call, worker);
    const auto* const dy = call.d_out;
    auto* const dx = call.d_in(0);
    if (dx == nullptr || dx == dy) return;
    const bool adds = call.adds_to(0);
    detail::for_elements<S, d.out>(detail::element_share(call, d.out, worker), [=](auto at) THIMBLE_INLINE_LAMBDA {
      detail::put_gradient<S>(at, dx, at.load(dy), adds);
    });
  }

 private:
  template <class S, Dims d>
  THIMBLE_INLINE static void add_row(const Call<typename S::real>& call, std::ptrdiff_t row, std::int32_t t) {
    const auto* const x = call.in(0) + row * d.out;
    const auto* const place = call.in(1) + std::ptrdiff_t(t) * d.out;
    auto* const y = call.out + row * d.out;
#if THIMBLE_ARM_FPU
    if constexpr (detail::kHasArmFpu<typename S::Vec> && d.out % 8 == 0) {
      return detail::arm_add_rows(y, 32, x, 32, place, 32, d.out / 8);
    }
#endif
    detail::for_elements<S, d.out>({0, d.out},
                            [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(y, at.load(x) + at.load(place)); });
  }

  template <class S, Dims d>
  THIMBLE_INLINE static void table_gradient(const Call<typename S::real>& call, const Worker& worker) {
    auto* const d_table = call.d_in(1);
    if (d_table == nullptr) return;
    const std::ptrdiff_t context = std::ptrdiff_t(call.extent.context) * d.out;
    const auto* const dy = call.d_out;
    const int batch = call.extent.batch;
    const bool adds = call.adds_to(1);
    const Range all = worker.share(std::ptrdiff_t(d.in) * d.out, 16);
    const Range used{all.begin, all.end < context ? all.end : context};
    detail::for_elements<S, d.out>(used, [=](auto at) THIMBLE_INLINE_LAMBDA {
      auto sum = at.load(dy);
      for (std::ptrdiff_t b = 1; b < batch; ++b) sum = sum + at.load(dy + b * context);
      detail::put_gradient<S>(at, d_table, sum, adds);
    });
    if (adds) return;
    const auto zero = S::Vec::broadcast(0);
    const Range rest{all.begin > context ? all.begin : context, all.end};
    detail::for_elements<S, d.out>(rest, [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(d_table, zero); });
  }
};

/// Appends x [B T, C] plus the rows of table [T, C] that belong to each token's place in its sequence.
constexpr ValueId positional(TapeBuilder& t, Name name, ValueId x, ValueId table) {
  const Shape shape = t.shape(x);
  const Shape places = t.shape(table);
  require(shape.kind == RowKind::tokens, "positional: x needs one row per token");
  require(t.value(table).role == Role::parameter && places.kind == RowKind::fixed,
          "positional: the table must be a parameter [T, C]");
  require(places.cols == shape.cols, "positional: x and the table need the same number of columns");
  Value v = op_value(Positional::name, name, shape, {x, table});
  v.reverse = Reverse::identity;
  v.dims = {.in = places.fixed_rows, .out = places.cols};
  return t.add(v);
}

}  // namespace thimble
