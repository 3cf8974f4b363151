#pragma once
/// Head and cross-entropy in one, in tiles of token rows: tile_rows x V logits are all that is ever held.
///   logits = x table^T,  loss_r = -log softmax(logits_r)[target_r],  0 where the target is ignored (-1)
///
/// Backward reads x, table and targets, and computes the losses as well. Gradients are those of the SUM of
/// the losses; they overwrite or add. Aliasing: none. Decoding gives the logits.
/// Order of sums: losses and dx as cross_entropy after head, bit for bit. d_table takes one tile after the
/// other, each as one product (core/ops/product.hpp); that is the unfused order where tile_rows is a multiple
/// of kSumBlock or not below the number of rows. So the tile is part of the order of sums, and the tape fixes
/// it, not the machine.
/// Dims: in = C, out = V, option = tile_rows.

#include "core/ops/head.hpp"
#include "core/ops/softmax_loss.hpp"

namespace thimble {

namespace detail {

/// One row of head and cross-entropy in plain double; logits are computed as often as they are read.
inline auto head_loss_reference(const Call<double>& call, Dims d, std::ptrdiff_t r) {
  const double* x = call.in(0) + r * d.in;
  const double* table = call.in(1);
  const auto logit = [=](std::ptrdiff_t v) {
    double sum = 0;
    for (std::ptrdiff_t c = 0; c < d.in; ++c) sum += x[c] * table[v * d.in + c];
    return sum;
  };
  return SoftmaxLossReference(logit, d.out, call.ids(2)[r]);
}

}  // namespace detail

struct HeadCrossEntropy {
  static constexpr Name name{"head_cross_entropy"};

  /// Three products, and the softmax as cross_entropy counts it.
  static constexpr Flops flops(const Value& v, const Extent& extent) {
    const std::int64_t logits = v.shape.rows(extent) * v.dims.out;
    return {(2 * v.dims.in + 4) * logits, (6 * v.dims.in + 5) * logits};
  }

  /// The tile of logits, then what the products pack.
  static constexpr std::int64_t scratch_bytes(const Value& v, StepKind kind, const PlanOptions& options) {
    if (kind == StepKind::decode) return detail::head_scratch_bytes(v.dims, 1, kind, options);
    const std::int64_t rows = tile_rows(v.dims, v.shape.rows(options.extent));
    return aligned(rows * v.dims.out * options.real_bytes) +
           detail::head_scratch_bytes(v.dims, rows, kind, options);
  }

  static void forward_ref(const Call<double>& call, Dims d) {
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) call.out[r] = detail::head_loss_reference(call, d, r).loss();
  }

  static void backward_ref(const Call<double>& call, Dims d) {
    for (int k = 0; k < 2; ++k) {
      const std::ptrdiff_t rows = k == 0 ? call.rows : d.out;
      if (call.d_in(k) == nullptr || call.adds_to(k)) continue;
      for (std::ptrdiff_t i = 0; i < rows * d.in; ++i) call.d_in(k)[i] = 0;
    }
    for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
      const auto row = detail::head_loss_reference(call, d, r);
      call.out[r] = row.loss();
      for (std::ptrdiff_t v = 0; v < d.out; ++v) {
        const double g = row.gradient(v);
        for (std::ptrdiff_t c = 0; c < d.in; ++c) {
          if (call.d_in(0) != nullptr) call.d_in(0)[r * d.in + c] += g * call.in(1)[v * d.in + c];
          if (call.d_in(1) != nullptr) call.d_in(1)[v * d.in + c] += g * call.in(0)[r * d.in + c];
        }
      }
    }
  }

  template <class S, Dims kDims>
  static void forward(const Call<typename S::real>& call, const Worker& worker) {
    using L = detail::SoftmaxLoss<S>;
    const Tiles<S, kDims> tiles(call);
    tiles.each([&](std::ptrdiff_t first, std::ptrdiff_t rows) {
      tiles.logits_of(first, rows, worker);
      worker.barrier();
      tiles.each_row(first, rows, worker,
                     [](auto* logits, auto target) { return L::loss(logits, kDims.out, target); });
      worker.barrier();
    });
  }

  template <class S, Dims kDims>
  static void backward(const Call<typename S::real>& call, const Worker& worker) {
    using L = detail::SoftmaxLoss<S>;
    const Tiles<S, kDims> tiles(call);
    tiles.each([&](std::ptrdiff_t first, std::ptrdiff_t rows) {
      tiles.logits_of(first, rows, worker);
      worker.barrier();
      tiles.each_row(first, rows, worker, [](auto* logits, auto target) {
        return L::loss_and_gradient(logits, kDims.out, target, logits);
      });
      worker.barrier();
      tiles.gradients_of(first, rows, worker);
      worker.barrier();
    });
  }

  template <class S, Dims kDims>
  static void decode(const Call<typename S::real>& call, const Worker& worker) {
    detail::HeadProducts<S, kDims>::logits(call.out, call.in(0), call.in(1), call.rows, call.scratch, worker);
  }

 private:
  THIMBLE_INLINE static constexpr std::ptrdiff_t tile_rows(const Dims& d, std::ptrdiff_t rows) {
    return rows < d.option ? rows : d.option;
  }

  /// The steps of one tile. Between them every worker must have arrived.
  template <class S, Dims kDims>
  class Tiles {
   public:
    using real = typename S::real;
    using Products = detail::HeadProducts<S, kDims>;

    explicit Tiles(const Call<real>& call) : call_(call), logits_(static_cast<real*>(call.scratch)) {
      const std::ptrdiff_t tile = aligned(tile_rows(kDims, call.rows) * kDims.out * std::ptrdiff_t(sizeof(real)));
      products_ = static_cast<char*>(call.scratch) + tile;
    }

    template <class F>
    void each(F f) const {
      for (std::ptrdiff_t first = 0; first < call_.rows; first += kDims.option) {
        f(first, tile_rows(kDims, call_.rows - first));
      }
    }

    void logits_of(std::ptrdiff_t first, std::ptrdiff_t rows, const Worker& worker) const {
      Products::logits(logits_, call_.in(0) + first * kDims.in, call_.in(1), rows, products_, worker);
    }

    /// Stores what f(logits of a row, its target) returns as the row's loss.
    template <class F>
    void each_row(std::ptrdiff_t first, std::ptrdiff_t rows, const Worker& worker, F f) const {
      const Range mine = worker.share(rows);
      for (std::ptrdiff_t r = mine.begin; r < mine.end; ++r) {
        call_.out[first + r] = f(logits_ + r * kDims.out, call_.ids(2)[first + r]);
      }
    }

    void gradients_of(std::ptrdiff_t first, std::ptrdiff_t rows, const Worker& worker) const {
      const std::ptrdiff_t at = first * kDims.in;
      if (call_.d_in(0) != nullptr) {
        Products::x_gradient(call_.d_in(0) + at, call_.adds_to(0), logits_, call_.in(1), rows, products_,
                             worker);
      }
      if (call_.d_in(1) == nullptr) return;
      worker.barrier();  // the products share their scratch
      Products::table_gradient(call_.d_in(1), call_.adds_to(1) || first > 0, logits_, call_.in(0) + at, rows,
                               products_, worker);
    }

   private:
    const Call<real>& call_;
    real* logits_;
    void* products_;
  };
};

/// Gradient of the sum of the losses with respect to the logits [tokens, V], which the kernels never hold at
/// once. `call` is that of the op's backward step.
inline void head_inner_gradient(const Call<double>& call, Dims d, double* d_logits) {
  for (std::ptrdiff_t r = 0; r < call.rows; ++r) {
    const auto row = detail::head_loss_reference(call, d, r);
    for (std::ptrdiff_t v = 0; v < d.out; ++v) d_logits[r * d.out + v] = row.gradient(v);
  }
}

/// Appends the losses [tokens, 1] of the head x table^T, for x [tokens, C] and a table [V, C]. `targets` are
/// ids in 0..V-1, or -1 for "ignored"; `tile_rows` is how many rows of logits are held at a time.
constexpr ValueId head_cross_entropy(TapeBuilder& t, Name name, ValueId x, ValueId table, ValueId targets,
                                     int tile_rows) {
  const Shape in = t.shape(x), weight = t.shape(table);
  require(in.kind == RowKind::tokens, "head_cross_entropy needs one row of input per token");
  require(weight.kind == RowKind::fixed && weight.rank == 2,
          "a head's table is a matrix [vocabulary, width]");
  require(weight.cols == in.cols,
          "a head's table [vocabulary, width] must have as many columns as its input");
  require(t.value(targets).role == Role::ids, "the targets of head_cross_entropy are ids");
  require(tile_rows > 0, "head_cross_entropy needs tiles of at least one row");
  Value v = op_value(HeadCrossEntropy::name, name, Shape::per_token(1), {x, table, targets});
  v.reverse = Reverse::loss;
  v.dims = {in.cols, weight.fixed_rows, 0, tile_rows};
  v.decode_cols = weight.fixed_rows;
  v.needs = Needs::operand(0) | Needs::operand(1) | Needs::operand(2);
  return t.add(v);
}

}  // namespace thimble
