#pragma once
/// Products that read their operands in place: small ones, and all of them on processors without vectors.

#include "core/ops/transpose.hpp"

namespace thimble::detail {

/// Cuts 0..total into the fewest parts of at most `most`, as equal as can be, the longer ones first.
struct Split {
  std::int64_t parts;
  std::int64_t length;  ///< of the shorter ones
  std::int64_t longer;  ///< how many are longer by one

  THIMBLE_INLINE constexpr Split(std::int64_t total, std::int64_t most)
      : parts(total <= most ? 1 : (total + most - 1) / most),
        length(parts == 1 ? total : total / parts),
        longer(total - length * parts) {}
  THIMBLE_INLINE constexpr std::int64_t begin(std::int64_t part) const {
    return part * length + (part < longer ? part : longer);
  }
};

/// Largest register tile of products in place: narrow ones are taller, but leave registers for a row of B and a number of A.
template <class S>
struct DirectShape {
  static constexpr bool kWide = S::width * sizeof(typename S::real) == 64;  // 32 registers instead of 16
  static constexpr int kVecs = kHasRegisters<S> ? 3 : 1;
  THIMBLE_INLINE static constexpr int rows(std::int64_t vecs) {
    if (!kHasRegisters<S>) return 4;
    const int most = vecs == 1 ? 8 : vecs == 2 ? 6 : 4;
    return kWide ? 2 * most : most;
  }
  static constexpr int kRows = rows(1);
  /// Numbers of a transposed panel of B on the stack (NT only; none in plain C++).
  static constexpr int kPanel = int(kSumBlock) * kVecs * S::width;
};

/// The tile for `rows` x `vecs` vectors that are known at run time.
template <class S, AOrder kA, BOrder kB>
struct TileTable {
  using Run = void (*)(const TileArgs<typename S::real>&);
  static constexpr int kRows = DirectShape<S>::kRows;
  static constexpr int kVecs = DirectShape<S>::kVecs;
  struct Entries {
    Run run[kRows][kVecs];
  };
  template <int... index>
  static constexpr Entries make(std::integer_sequence<int, index...>) {
    Entries t{};
    (
        [&] {
          constexpr int rows = index / kVecs + 1, vecs = index % kVecs + 1;
          if constexpr (rows <= DirectShape<S>::rows(vecs)) t.run[rows - 1][vecs - 1] = &Tile<S, rows, vecs, kA, kB>::run;
        }(),
        ...);
    return t;
  }
  static constexpr Entries entries = make(std::make_integer_sequence<int, kRows * kVecs>{});
};

template <class S, ProductKind kKind>
struct DirectProduct {
  using real = typename S::real;
  using Shape = DirectShape<S>;
  static constexpr bool kTransposes = kKind == ProductKind::nt && kHasRegisters<S>;
  static constexpr AOrder kA = kKind == ProductKind::tn ? AOrder::across_k : AOrder::along_k;
  static constexpr BOrder kB = kKind == ProductKind::nt && !kHasRegisters<S> ? BOrder::along_k : BOrder::across_k;

  static void run(const ProductArgs<real>& args, const Worker& worker) {
    std::int64_t p = 0;
    do {
      const std::int64_t k = args.k - p < kSumBlock ? args.k - p : kSumBlock;
      block(args, p, k, worker);
      p += k;
    } while (p < args.k);
  }

 private:
  struct Place {
    std::int64_t row, panel;  ///< of a tile
  };

  static void block(const ProductArgs<real>& args, std::int64_t p, std::int64_t k, const Worker& worker) {
    const std::int64_t vecs = (args.n + S::width - 1) / S::width;
    const Split columns(vecs, Shape::kVecs), rows(args.m, Shape::rows(columns.begin(1)));
    const auto run_panel = [&](std::int64_t panel, std::int64_t first, std::int64_t last) THIMBLE_INLINE_LAMBDA {
      const std::int64_t v = columns.begin(panel);
      column_panel(args, p, k, v * S::width, columns.begin(panel + 1) - v, rows, first, last);
    };
    if (worker.count == 1) {
      for (std::int64_t panel = 0; panel < columns.parts; ++panel) run_panel(panel, 0, rows.parts);
      return;
    }
    const std::int64_t tiles = columns.parts * rows.parts;
    // Tiles are numbered along rows or along columns of tiles, and a worker has those from begin to end.
    const bool by_rows = workers_share_rows(kKind, args.m, args.n, args.k);
    const auto place_of = [&](std::int64_t tile) THIMBLE_INLINE_LAMBDA {
      const std::int64_t line = tile / (by_rows ? columns.parts : rows.parts);
      const std::int64_t within = tile - line * (by_rows ? columns.parts : rows.parts);
      return by_rows ? Place{line, within} : Place{within, line};
    };
    const Place begin = place_of(tiles * worker.index / worker.count);
    const Place end = place_of(tiles * (worker.index + 1) / worker.count);
    for (std::int64_t panel = 0; panel < columns.parts; ++panel) {
      const auto row_of = [&](const Place& place) THIMBLE_INLINE_LAMBDA {
        if (by_rows) return place.row + (panel < place.panel);
        return panel < place.panel ? rows.parts : panel == place.panel ? place.row : 0;
      };
      const std::int64_t first = row_of(begin), last = row_of(end);
      if (first < last) run_panel(panel, first, last);
    }
  }

  static void column_panel(const ProductArgs<real>& args, std::int64_t p, std::int64_t k, std::int64_t column,
                           std::int64_t vecs, Split rows, std::int64_t first, std::int64_t last) {
    const std::int64_t columns = args.n - column < vecs * S::width ? args.n - column : vecs * S::width;
    alignas(64) real panel[kTransposes ? Shape::kPanel : 1];
    TileArgs<real> t;
    t.k = k;
    t.lda = args.lda;
    t.result.ldc = args.ldc;
    t.result.bias = args.bias != nullptr && p == 0 ? args.bias + column : nullptr;
    t.result.add = p > 0 || args.update == Update::accumulate;
    t.result.tail = int(columns - (vecs - 1) * S::width);
    if constexpr (kTransposes) {
      t.b = panel;
      t.ldb = vecs * S::width;
      transpose<S>(args.b + column * args.ldb + p, args.ldb, int(columns), int(k), panel, t.ldb);
    } else {
      t.b = kB == BOrder::along_k ? args.b + column * args.ldb + p : args.b + p * args.ldb + column;
      t.ldb = args.ldb;
    }
    for (std::int64_t i = first, row = rows.begin(first), next; i < last; ++i, row = next) {
      next = rows.begin(i + 1);
      t.a = kA == AOrder::along_k ? args.a + row * args.lda + p : args.a + p * args.lda + row;
      t.result.c = args.c + row * args.ldc + column;
      TileTable<S, kA, kB>::entries.run[next - row - 1][vecs - 1](t);
    }
  }
};

}  // namespace thimble::detail
