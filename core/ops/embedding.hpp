#pragma once
/// y_r = table[id_r]: one row of the table per token.
///
/// Backward reads the ids: dtable[id_r] += dy_r. It overwrites (what no token names becomes 0) or adds.
/// Order of sums: the tokens in ascending order, for every number of the table alone. Workers split rows in
/// forward, columns in backward. Ids are checked before a run, not here. Aliasing: none. Dims: in = V (rows
/// of the table), out = C.

#include "core/ops/elements.hpp"

namespace thimble {

struct Embedding {
  static constexpr Name name{"embedding"};

  /// A copy; backward adds once per element.
  static constexpr Flops flops(const Value& v, const Extent& extent) { return {0, v.shape.count(extent)}; }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      for (int c = 0; c < d.out; ++c)
        call.out[r * d.out + c] = call.in(1)[std::ptrdiff_t(call.ids(0)[r]) * d.out + c];
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t i = 0; !call.adds_to(1) && i < std::ptrdiff_t(d.in) * d.out; ++i) call.d_in(1)[i] = 0;
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      for (int c = 0; c < d.out; ++c) {
        call.d_in(1)[std::ptrdiff_t(call.ids(0)[r]) * d.out + c] += call.d_out[r * d.out + c];
      }
    }
  }

  template <class S, Dims d>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    const Range rows = worker.share(call.rows);
    for (std::ptrdiff_t r = rows.begin; r < rows.end; ++r) {
      const auto* const from = call.in(1) + std::ptrdiff_t(call.ids(0)[r]) * d.out;
      auto* const to = call.out + r * d.out;
      detail::for_elements<S>({0, d.out},
                              [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(to, at.load(from)); });
    }
  }

  template <class S, Dims d>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    const Range columns = worker.share(d.out, 16);
    if (!call.adds_to(1)) {
      const auto zero = S::Vec::broadcast(0);
      for (std::ptrdiff_t v = 0; v < d.in; ++v) {
        auto* const to = call.d_in(1) + v * d.out;
        detail::for_elements<S>(columns, [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(to, zero); });
      }
    }
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      const auto* const from = call.d_out + r * d.out;
      auto* const to = call.d_in(1) + std::ptrdiff_t(call.ids(0)[r]) * d.out;
      detail::for_elements<S>(
          columns, [=](auto at) THIMBLE_INLINE_LAMBDA { at.store(to, at.load(to) + at.load(from)); });
    }
  }
};

/// Appends the rows of table [V, C] that `ids` (0..V-1) name.
constexpr ValueId embedding(TapeBuilder& t, Name name, ValueId ids, ValueId table) {
  require(t.value(ids).role == Role::ids, "embedding: the first operand must be ids");
  require(t.value(table).role == Role::parameter, "embedding: the table must be a parameter [V, C]");
  const Shape shape = t.shape(table);
  Value v = op_value(Embedding::name, name, t.shape(ids).with_cols(shape.cols), {ids, table});
  v.needs = Needs::operand(0);
  v.dims = {.in = shape.fixed_rows, .out = shape.cols};
  return t.add(v);
}

}  // namespace thimble
