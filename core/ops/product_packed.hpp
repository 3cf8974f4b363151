#pragma once
/// Large products: blocks of A are packed for the cache, panels of B for the register tile (Goto and van de
/// Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008, with the roles of A and B as row-major
/// results want them).
///
/// For blocks of columns, rows and kSumBlock summands, in this order from outside: A's rows are packed into
/// the second level cache. Then for each panel of columns: the first tile of rows reads B in place and fills
/// the panel (NT transposes it beforehand), and the others read the panel, while the next panel, the next
/// block of A and the next tile's rows of C are fetched.

#include "core/ops/product_packed_tile.hpp"
#include "core/ops/transpose.hpp"

namespace thimble::detail {

/// Goes through the cache lines of a block of some matrix, down its rows first, a run for each tile.
template <class real>
class FetchAhead {
 public:
  static constexpr std::int64_t kLine = 64 / sizeof(real);

  /// Starts over with a block at `block`, in rows that are `pitch` numbers apart.
  THIMBLE_INLINE void start(const real* block, std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
    block_ = block;
    rows_ = rows;
    pitch_ = pitch;
    row_ = line_ = 0;
    lines_ = (columns + kLine - 1) / kLine + 1;
  }
  THIMBLE_INLINE bool done() const { return line_ >= lines_; }
  /// The next `count` lines.
  THIMBLE_INLINE FetchRun next(std::int64_t count) {
    const FetchRun run{reinterpret_cast<std::uintptr_t>(block_) +
                           std::uintptr_t(row_ * pitch_ + line_ * kLine) * sizeof(real),
                       std::intptr_t(pitch_ * std::int64_t(sizeof(real)))};
    row_ += count;
    if (row_ >= rows_) {
      row_ = 0;
      ++line_;
    }
    return run;
  }

 private:
  const real* block_ = nullptr;
  std::int64_t rows_ = 0, pitch_ = 0, row_ = 0, line_ = 0, lines_ = 0;
};

template <class S, ProductKind kKind>
class PackedProduct {
 public:
  using real = typename S::real;

  static void run(const ProductArgs<real>& args, const Worker& worker);

 private:
  using Vec = typename S::Vec;
  static constexpr int kRows = PackedShape<S>::kRows;
  static constexpr int kColumns = PackedShape<S>::kColumns;
  static constexpr AOrder kA = kKind == ProductKind::tn ? AOrder::across_k : AOrder::along_k;
  /// Numbers of C that stay in the second level cache while the sum blocks pass.
  static constexpr std::int64_t kResultCount = 300000 * 4 / sizeof(real);

  struct Block {
    std::int64_t begin, size;
  };

  PackedProduct(const ProductArgs<real>& args, const Worker& worker) : args_(args) {
    a_ = static_cast<real*>(args.scratch) + worker.index * packed_count(kKind, args.m);
    panel_ = a_ + packed_rows(kKind, args.m) * kPackedPitch;
    rows_ = {0, args.m};
    columns_ = {0, args.n};
    if (workers_share_rows(kKind, args.m, args.n, args.k)) {
      rows_ = share(worker, args.m, kRows);
    } else {
      columns_ = share(worker, args.n, kColumns);
    }
  }

  THIMBLE_INLINE static Block share(const Worker& worker, std::int64_t n, std::int64_t grain) {
    const std::int64_t grains = (n + grain - 1) / grain;
    const std::int64_t begin = grains * worker.index / worker.count * grain;
    const std::int64_t end = grains * (worker.index + 1) / worker.count * grain;
    return {begin, (end < n ? end : n) - begin};
  }

  /// The size of equal parts of `total`, none above `most`, all but the last a multiple of `grain`.
  THIMBLE_INLINE static std::int64_t part(std::int64_t total, std::int64_t most, std::int64_t grain) {
    const std::int64_t parts = (total + most - 1) / most;
    return ((total + parts - 1) / parts + grain - 1) / grain * grain;
  }
  THIMBLE_INLINE static Block cut(Block whole, std::int64_t from, std::int64_t size) {
    const std::int64_t left = whole.begin + whole.size - from;
    return {from, left < size ? left : size};
  }

  void blocks() {
    if (rows_.size <= 0 || columns_.size <= 0) return;
    const std::int64_t rows = part(rows_.size, packed_rows_most(kKind) / kRows * kRows, kRows);
    const std::int64_t wide = kResultCount / rows / kColumns * kColumns;
    const std::int64_t columns = part(columns_.size, wide < kColumns ? kColumns : wide, kColumns);
    const std::int64_t columns_end = columns_.begin + columns_.size;
    const std::int64_t rows_end = rows_.begin + rows_.size;
    for (std::int64_t j = columns_.begin; j < columns_end; j += columns) {
      for (std::int64_t i = rows_.begin; i < rows_end; i += rows) {
        for (std::int64_t p = 0; p < args_.k; p += kSumBlock) {
          block(cut(rows_, i, rows), cut(columns_, j, columns), cut({0, args_.k}, p, kSumBlock));
        }
      }
    }
  }

  void block(Block rows, Block columns, Block sum) {
    pack_a(rows, sum);
    const Block later = cut({0, args_.k}, sum.begin + sum.size, kSumBlock);
    next_a_.start(a_at(rows.begin, later.begin), kA == AOrder::along_k ? rows.size : later.size,
                  kA == AOrder::along_k ? later.size : rows.size, args_.lda);
    for (std::int64_t j = 0; j < columns.size; j += kColumns) {
      const Block panel = cut(columns, columns.begin + j, kColumns);
      // After the last panel comes the first one of the next summands, or of the first.
      const bool last = j + kColumns >= columns.size;
      const std::int64_t next = last ? columns.begin : panel.begin + kColumns;
      const Block next_sum = last ? (later.size > 0 ? later : cut({0, args_.k}, 0, kSumBlock)) : sum;
      next_b_.start(b_at(next_sum.begin, next), kKind == ProductKind::nt ? kColumns : next_sum.size,
                    kKind == ProductKind::nt ? next_sum.size : kColumns, args_.ldb);
      multiply(rows, panel, sum);
    }
  }

  /// All rows of the block times one panel of columns.
  void multiply(Block rows, Block columns, Block sum) {
    const std::int64_t vecs = (columns.size + S::width - 1) / S::width;
    const bool fills = kKind != ProductKind::nt && columns.size == kColumns && rows.size >= kRows;
    if (!fills) pack_b(columns, sum);
    PackedTileArgs<real> t;
    t.k = sum.size;
    t.ldb = args_.ldb;
    t.panel = panel_;
    t.next_result.step = std::intptr_t(args_.ldc * std::int64_t(sizeof(real)));
    t.result.ldc = args_.ldc;
    t.result.bias = args_.bias != nullptr && sum.begin == 0 ? args_.bias + columns.begin : nullptr;
    t.result.add = sum.begin > 0 || args_.update == Update::accumulate;
    t.result.tail = int(columns.size - (vecs - 1) * S::width);
    for (std::int64_t i = 0; i < rows.size; i += kRows) {
      const std::int64_t left = rows.size - i;
      t.a = a_ + i * (kA == AOrder::along_k ? kPackedPitch : kSumBlock);
      t.b = panel_;
      t.fetch = fetch(sum.size);
      t.result.c = args_.c + (rows.begin + i) * args_.ldc + columns.begin;
      t.next_result.at = left > kRows ? address_of_c(rows.begin + i + kRows, columns.begin)
                                      : address_of_c(rows.begin, columns.begin + kColumns);
      t.result.rows = int(left < kRows ? left : kRows);
      if (columns.size < kColumns || left < kRows) {
        edge_tile(vecs, t);
      } else if (fills && i == 0) {
        t.b = b_at(sum.begin, columns.begin);
        PackedTile<S, PackedShape<S>::kVecs, kA, PanelUse::fills, true>::run(t);
      } else {
        PackedTile<S, PackedShape<S>::kVecs, kA, PanelUse::reads, true>::run(t);
      }
    }
  }

  THIMBLE_INLINE FetchRun fetch(std::int64_t k) {
    constexpr int steps = PackedTile<S, PackedShape<S>::kVecs, kA, PanelUse::reads, true>::kSteps;
    if (!next_b_.done()) return next_b_.next(k / steps);
    if (!next_a_.done()) return next_a_.next(k / steps);
    return {reinterpret_cast<std::uintptr_t>(panel_), 0};
  }

  /// Of a number of C, which need not exist.
  THIMBLE_INLINE std::uintptr_t address_of_c(std::int64_t row, std::int64_t column) const {
    return reinterpret_cast<std::uintptr_t>(args_.c) + std::uintptr_t(row * args_.ldc + column) * sizeof(real);
  }

  THIMBLE_INLINE static void edge_tile(std::int64_t vecs, const PackedTileArgs<real>& t) {
    unrolled<PackedShape<S>::kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA {
      if (vecs == v + 1) PackedTile<S, v + 1, kA, PanelUse::reads, false>::run(t);
    });
  }

  THIMBLE_INLINE const real* a_at(std::int64_t row, std::int64_t p) const {
    return kKind == ProductKind::tn ? args_.a + p * args_.lda + row : args_.a + row * args_.lda + p;
  }
  THIMBLE_INLINE const real* b_at(std::int64_t p, std::int64_t column) const {
    return kKind == ProductKind::nt ? args_.b + column * args_.ldb + p : args_.b + p * args_.ldb + column;
  }

  void pack_a(Block rows, Block sum) {
    const real* const from = a_at(rows.begin, sum.begin);
    if constexpr (kA == AOrder::along_k) {
      std::int64_t i = 0;
      for (; i < rows.size; ++i) copy(from + i * args_.lda, sum.size, a_ + i * kPackedPitch);
      for (; i % kRows != 0; ++i) zero(sum.size, a_ + i * kPackedPitch);
    } else {
      std::int64_t i = 0;
      for (; i + 4 * kRows <= rows.size; i += 4 * kRows)
        pack_across<4>(from + i, sum.size, a_ + i * kSumBlock);
      for (; i + kRows <= rows.size; i += kRows) pack_across<1>(from + i, sum.size, a_ + i * kSumBlock);
      if (i < rows.size) {
        real* const to = a_ + i * kSumBlock;
        zero(sum.size * kRows, to);
        for (std::int64_t p = 0; p < sum.size; ++p) {
          for (std::int64_t r = i; r < rows.size; ++r) to[p * kRows + r - i] = from[p * args_.lda + r];
        }
      }
    }
  }

  /// kTiles tiles of rows at once, so that whole cache lines are read.
  template <int kTiles>
  THIMBLE_INLINE void pack_across(const real* from, std::int64_t k, real* to) const {
    for (std::int64_t p = 0; p < k; ++p, from += args_.lda, to += kRows) {
      unrolled<kTiles>([&](auto tile) THIMBLE_INLINE_LAMBDA {
        __builtin_memcpy(to + tile * kRows * kSumBlock, from + tile * kRows, kRows * sizeof(real));
      });
    }
  }

  void pack_b(Block columns, Block sum) const {
    const real* from = b_at(sum.begin, columns.begin);
    if constexpr (kKind == ProductKind::nt) {
      transpose<S>(from, args_.ldb, int(columns.size), int(sum.size), panel_, kColumns);
    } else {
      for (std::int64_t p = 0; p < sum.size; ++p)
        copy(from + p * args_.ldb, columns.size, panel_ + p * kColumns);
    }
  }

  /// Copies n numbers and fills the last vector up with zeros.
  THIMBLE_INLINE static void copy(const real* from, std::int64_t n, real* to) {
    std::int64_t i = 0;
    for (; i + S::width <= n; i += S::width) Vec::load(from + i).store(to + i);
    if (i < n) Vec::load_first(from + i, int(n - i)).store(to + i);
  }
  THIMBLE_INLINE static void zero(std::int64_t n, real* to) {
    for (std::int64_t i = 0; i < n; i += S::width) Vec::broadcast(0).store(to + i);
  }

  const ProductArgs<real>& args_;
  real* a_;
  real* panel_;
  Block rows_, columns_;
  FetchAhead<real> next_a_, next_b_;
};

// Outside of the class, and so not inline: it can be compiled once for all models.
template <class S, ProductKind kKind>
void PackedProduct<S, kKind>::run(const ProductArgs<real>& args, const Worker& worker) {
  PackedProduct(args, worker).blocks();
}

}  // namespace thimble::detail
