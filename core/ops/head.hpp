#pragma once
/// The output head: logits[r, v] = sum_c x[r, c] table[v, c]. The table is the embedding's own (tied) or
/// another.
///
/// Backward reads x and table: dx = d_logits table, d_table = d_logits^T x. Each overwrites or adds.
/// Order of sums: that of core/ops/product.hpp, over c, v and r in turn. Aliasing: none.
/// Dims: in = C, out = V.

#include "core/ops/op.hpp"
#include "core/ops/product.hpp"
#include "core/plan/plan.hpp"

namespace thimble {

namespace detail {

/// The three products between x [rows, C], table [V, C] and logits [rows, V].
template <class S, Dims kDims>
struct HeadProducts {
  using real = typename S::real;
  using enum ProductKind;
  static constexpr int C = kDims.in;
  static constexpr int V = kDims.out;

  static void logits(real* out, const real* x, const real* table, std::ptrdiff_t rows, void* scratch,
                     const Worker& worker) {
    product<S, nt>({rows, V, C, x, C, table, C, out, V, Update::overwrite, nullptr, scratch}, worker);
  }
  static void x_gradient(real* dx, bool adds, const real* d_logits, const real* table, std::ptrdiff_t rows,
                         void* scratch, const Worker& worker) {
    product<S, nn>({rows, C, V, d_logits, V, table, C, dx, C, update(adds), nullptr, scratch}, worker);
  }
  static void table_gradient(real* d_table, bool adds, const real* d_logits, const real* x, std::ptrdiff_t rows,
                             void* scratch, const Worker& worker) {
    product<S, tn>({V, C, rows, d_logits, V, x, C, d_table, C, update(adds), nullptr, scratch}, worker);
  }

 private:
  THIMBLE_INLINE static constexpr Update update(bool adds) {
    return adds ? Update::accumulate : Update::overwrite;
  }
};

constexpr std::int64_t head_scratch_bytes(const Dims& d, std::int64_t rows, StepKind kind,
                                          const PlanOptions& o) {
  using enum ProductKind;
  const auto bytes = [&](ProductKind p, std::int64_t m, std::int64_t n, std::int64_t k) {
    return product_scratch_bytes(p, m, n, k, o.workers, o.real_bytes);
  };
  std::int64_t most = bytes(nt, rows, d.out, d.in);
  if (kind != StepKind::backward) return most;
  for (const std::int64_t other : {bytes(nn, rows, d.in, d.out), bytes(tn, d.out, d.in, rows)}) {
    most = other > most ? other : most;
  }
  return most;
}

}  // namespace detail

struct Head {
  static constexpr Name name{"head"};

  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t product = 2 * v.shape.rows(extent) * v.dims.in * v.dims.out;
    return {product, 2 * product};
  }

  static constexpr std::int64_t scratch_bytes(const Value& v, StepKind kind, const PlanOptions& options) {
    const std::int64_t rows = kind == StepKind::decode ? 1 : v.shape.rows(options.extent);
    return detail::head_scratch_bytes(v.dims, rows, kind, options);
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      for (std::ptrdiff_t v = 0; v < d.out; ++v) {
        double sum = 0;
        for (std::ptrdiff_t c = 0; c < d.in; ++c) {
          sum += call.in(0)[r * d.in + c] * call.in(1)[v * d.in + c];
        }
        call.out[r * d.out + v] = sum;
      }
    }
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (int k = 0; k < 2; ++k) {
      const std::ptrdiff_t rows = k == 0 ? call.rows : d.out;
      if (call.d_in(k) == nullptr || call.adds_to(k)) continue;
      for (std::ptrdiff_t i = 0; i < rows * d.in; ++i) call.d_in(k)[i] = 0;
    }
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      for (std::ptrdiff_t v = 0; v < d.out; ++v) {
        const double g = call.d_out[r * d.out + v];
        for (std::ptrdiff_t c = 0; c < d.in; ++c) {
          if (call.d_in(0) != nullptr) call.d_in(0)[r * d.in + c] += g * call.in(1)[v * d.in + c];
          if (call.d_in(1) != nullptr) call.d_in(1)[v * d.in + c] += g * call.in(0)[r * d.in + c];
        }
      }
    }
  }

  template <class S, Dims kDims>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    detail::HeadProducts<S, kDims>::logits(call.out, call.in(0), call.in(1), call.rows, call.scratch, worker);
  }

  template <class S, Dims kDims>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    using Products = detail::HeadProducts<S, kDims>;
    if (call.d_in(0) != nullptr) {
      Products::x_gradient(call.d_in(0), call.adds_to(0), call.d_out, call.in(1), call.rows, call.scratch,
                           worker);
      worker.barrier();  // the products share their scratch
    }
    if (call.d_in(1) != nullptr) {
      Products::table_gradient(call.d_in(1), call.adds_to(1), call.d_out, call.in(0), call.rows, call.scratch,
                               worker);
    }
  }
};

/// Appends logits [tokens, V] of x [tokens, C] and a table [V, C].
constexpr ValueId head(TapeBuilder& t, Name name, ValueId x, ValueId table) {
  const Shape in = t.shape(x), weight = t.shape(table);
  require(weight.kind == RowKind::fixed && weight.rank == 2,
          "a head's table is a matrix [vocabulary, width]");
  require(weight.cols == in.cols,
          "a head's table [vocabulary, width] must have as many columns as its input");
  Value v = op_value(Head::name, name, in.with_cols(weight.fixed_rows), {x, table});
  v.dims = {in.cols, weight.fixed_rows};
  v.needs = Needs::operand(0) | Needs::operand(1);
  return t.add(v);
}

}  // namespace thimble
