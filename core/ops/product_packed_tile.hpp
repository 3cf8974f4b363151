#pragma once
/// The register tile of large products: it reads packed operands at distances known at compile time, and
/// fetches ahead what the tiles after it will want.

#include "core/ops/product_tile.hpp"

namespace thimble::detail {

/// Largest register tile: rows x vectors of accumulators, and the registers left for a row of B and a number
/// of A.
template <class S>
struct PackedShape {
  static constexpr bool kWide = S::width * sizeof(typename S::real) == 64;  // 32 registers instead of 16
  static constexpr int kRows = kWide ? 8 : 6;
  static constexpr int kVecs = kWide ? 3 : 2;
  static constexpr int kColumns = kVecs * S::width;
  static_assert(kColumns <= kWidestPanel && kRowTiles % kRows == 0);
};

/// A strided run of addresses to fetch ahead; they need not exist.
struct FetchRun {
  std::uintptr_t at;
  std::intptr_t step;
};

template <class real>
struct PackedTileArgs {
  std::int64_t k;
  const real* a;     ///< packed: [rows][kPackedPitch] along k, [k][kRows] across
  const real* b;     ///< the panel [k][kColumns], or where to fill it from
  std::int64_t ldb;  ///< of the source
  real* panel;       ///< the panel to fill
  FetchRun fetch;
  FetchRun next_result;  ///< rows of C that the next tile updates
  TileResult<real> result;
};

/// How a tile gets its row of B: from the packed panel, or from B itself, filling the panel on the way.
enum class PanelUse : std::uint8_t { reads, fills };

/// kWhole: all rows and columns of the tile exist. Otherwise the operands are padded, and result counts.
template <class S, int kVecs, AOrder kA, PanelUse kUse, bool kWhole>
struct PackedTile {
  using real = typename S::real;
  using Vec = typename S::Vec;
  static constexpr int kRows = PackedShape<S>::kRows;
  static constexpr int kColumns = PackedShape<S>::kColumns;
  static constexpr int kWidth = S::width;
  /// Steps of the sum between two fetches.
  static constexpr int kSteps = kWhole ? 4 : 1;

  [[gnu::noinline]] static void run(const PackedTileArgs<real>& t) {
    Vec acc[kRows][kVecs];
    begin_tile<S, kRows, kVecs, !kWhole>(t.result, acc);
    const real* a = t.a;
    const real* b = t.b;
    real* panel = t.panel;
    const std::int64_t ldb = t.ldb;
    FetchRun fetch = t.fetch;
    std::int64_t k = t.k;
    const auto steps = [&](auto count) THIMBLE_INLINE_LAMBDA {
      unrolled<count>([&](auto step) THIMBLE_INLINE_LAMBDA {
        Vec row[kVecs];
        unrolled<kVecs>([&](auto j) THIMBLE_INLINE_LAMBDA {
          row[j] = Vec::load(b + (kUse == PanelUse::reads ? step * kColumns : 0) + j * kWidth);
        });
        if constexpr (kUse == PanelUse::fills) {
          unrolled<kVecs>([&](auto j)
                              THIMBLE_INLINE_LAMBDA { row[j].store(panel + step * kColumns + j * kWidth); });
          b += ldb;
        }
        unrolled<kRows>([&](auto i) THIMBLE_INLINE_LAMBDA {
          const Vec scale =
              Vec::broadcast(kA == AOrder::along_k ? a[i * kPackedPitch + step] : a[step * kRows + i]);
          unrolled<kVecs>([&](auto j)
                              THIMBLE_INLINE_LAMBDA { acc[i][j] = mul_add(scale, row[j], acc[i][j]); });
        });
      });
      a += kA == AOrder::along_k ? count : count * kRows;
      panel += count * kColumns;
      if constexpr (kUse == PanelUse::reads) b += count * kColumns;
      k -= count;
    };
    // C comes from afar, so it is fetched a tile ahead, and little by little: many lines at once would hold up B. It is
    // taken into the first level cache at the end, or B would push it out again.
    FetchRun next_result = t.next_result;
    const std::int64_t steps_a_row = k / (kSteps * kRows) * kSteps;
    for (int i = 0; i < kRows; ++i) {
      const bool last = i + 1 == kRows;
      if constexpr (kWhole) {
        fetch_row(next_result);
        if (last) fetch_result(t.result);
      }
      for (const std::int64_t stop = last ? 0 : k - steps_a_row; k - stop >= kSteps;) {
        if constexpr (kWhole) fetch_line(fetch);
        steps(std::integral_constant<int, kSteps>{});
      }
    }
    while (k > 0) steps(std::integral_constant<int, 1>{});
    update_tile<S, kRows, kVecs, !kWhole, !kWhole>(t.result, acc);
  }

 private:
  /// Into the second level cache, and on to the next line or row.
  THIMBLE_INLINE static void fetch_line(FetchRun& run) {
    __builtin_prefetch(reinterpret_cast<const void*>(run.at), 0, 2);
    run.at += std::uintptr_t(run.step);
  }
  THIMBLE_INLINE static void fetch_row(FetchRun& run) {
    unrolled<kVecs>([&](auto j) THIMBLE_INLINE_LAMBDA {
      __builtin_prefetch(reinterpret_cast<const void*>(run.at + j * kWidth * sizeof(real)), 0, 2);
    });
    run.at += std::uintptr_t(run.step);
  }
  THIMBLE_INLINE static void fetch_result(const TileResult<real>& result) {
    const real* c = result.c;
    for (int i = 0; i < kRows; ++i, c += result.ldc) {
      unrolled<kVecs>([&](auto j) THIMBLE_INLINE_LAMBDA { __builtin_prefetch(c + j * kWidth, 1, 3); });
    }
  }
};

}  // namespace thimble::detail
