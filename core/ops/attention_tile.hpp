#pragma once
/// Register tiles of causal attention. All of them vectorise over outputs; each output is one chain of
/// multiply-adds over ascending summands.

#include "core/ops/product_tile.hpp"

namespace thimble::detail {

/// Copies rows x cols numbers, transposed: to[c * pitch + r] = from[r * stride + c]. Columns r from `rows` to
/// `padded_rows` become 0.
template <class S>
void transpose(const typename S::real* from, std::int64_t stride, int rows, int cols, typename S::real* to,
               std::int64_t pitch, int padded_rows) {
  for (int c = 0; c < cols; ++c) {
    for (int r = 0; r < rows; ++r) to[c * pitch + r] = from[r * stride + c];
    for (int r = rows; r < padded_rows; ++r) to[c * pitch + r] = 0;
  }
}

/// Sizes of the register tiles: rows by native vectors.
template <class S>
struct AttentionTiles {
  static constexpr bool kIs512 = S::width * sizeof(typename S::real) == 64;
  static constexpr bool kIsPlain = S::width <= 4 && sizeof(typename S::real) * S::width < 32;
  static constexpr int kScoreRows = kIs512 ? 8 : kIsPlain ? 4 : 6;
  static constexpr int kScoreVecs = kIsPlain ? 1 : 2;
  static constexpr int kChainVecs = kIs512 ? 4 : kIsPlain ? 1 : 2;
  static constexpr int chain_rows(int vecs) { return kIsPlain ? 4 : kIs512 && vecs < 4 ? 8 : 6; }
};

/// Calls body.operator()<n>(row) for tiles of n = kMost, then 4, 2 and 1 rows that together cover begin..end.
template <int kMost, class Body>
THIMBLE_INLINE void for_row_tiles(std::int64_t begin, std::int64_t end, const Body& body) {
  constexpr int kNext = kMost > 4 ? 4 : kMost / 2;
  for (; end - begin >= kMost; begin += kMost) body.template operator()<kMost>(begin);
  if constexpr (kNext > 0) {
    if (begin < end) for_row_tiles<kNext>(begin, end, body);
  }
}

/// What a score tile does with its sums x: `scale` stores x * scale; `gradient` replaces P by P * (x - dot).
enum class ScoreFinish : std::uint8_t { scale, gradient };

/// to[r, n] from x = chain over d of rows[r, d] columns[d, n], for whole native vectors of n.
template <class real>
struct ScoreArgs {
  const real* rows;
  std::int64_t stride;  ///< between rows
  const real* columns;
  std::int64_t pitch;  ///< between rows of `columns` and of `to`
  std::int64_t depth;
  real* to;
  real scale;
  const real* dots;  ///< one number per column
};

template <class S, int kRows, int kVecs, ScoreFinish kFinish>
[[gnu::noinline]] void score_tile(const ScoreArgs<typename S::real>& t) {
  using Vec = typename S::Vec;
  Vec acc[kRows][kVecs];
  unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
    unrolled<kVecs>([&](auto v) __attribute__((always_inline)) { acc[r][v] = Vec::broadcast(0); });
  });
  const auto* rows = t.rows;
  const auto* columns = t.columns;
  const std::int64_t stride = t.stride, pitch = t.pitch;
  for (std::int64_t d = t.depth; d > 0; --d) {
    Vec column[kVecs];
    unrolled<kVecs>([&](auto v)
                        __attribute__((always_inline)) { column[v] = Vec::load(columns + v * S::width); });
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
      const Vec row = Vec::broadcast(rows[r * stride]);
      unrolled<kVecs>([&](auto v)
                          __attribute__((always_inline)) { acc[r][v] = mul_add(row, column[v], acc[r][v]); });
    });
    ++rows;
    columns += pitch;
  }
  const Vec scale = Vec::broadcast(t.scale);
  unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
    unrolled<kVecs>([&](auto v) __attribute__((always_inline)) {
      auto* const at = t.to + r * pitch + v * S::width;
      if constexpr (kFinish == ScoreFinish::scale) {
        (acc[r][v] * scale).store(at);
      } else {
        (Vec::load(at) * (acc[r][v] - Vec::load(t.dots + v * S::width))).store(at);
      }
    });
  });
}

/// Score tiles over `keys` rows and `vecs` vectors of queries. Query `ahead` is the first that sees key 0,
/// the next one key 1 and so on (causal), and vectors that see none of a tile's keys are left out.
template <class S, ScoreFinish kFinish>
void score_tiles(const ScoreArgs<typename S::real>& all, std::int64_t keys, int vecs, std::int64_t ahead) {
  using Tiles = AttentionTiles<S>;
  for_row_tiles<Tiles::kScoreRows>(0, keys, [&]<int kRows>(std::int64_t j) {
    ScoreArgs<typename S::real> t = all;
    t.rows += j * t.stride;
    t.to += j * t.pitch;
    const std::int64_t first = j + ahead > 0 ? (j + ahead) / S::width * S::width : 0;
    t.columns += first;
    t.to += first;
    t.dots += first;
    std::int64_t left = vecs - first / S::width;
    for (; left >= Tiles::kScoreVecs; left -= Tiles::kScoreVecs) {
      score_tile<S, kRows, Tiles::kScoreVecs, kFinish>(t);
      t.columns += Tiles::kScoreVecs * S::width;
      t.to += Tiles::kScoreVecs * S::width;
      t.dots += Tiles::kScoreVecs * S::width;
    }
    static_assert(Tiles::kScoreVecs <= 2);
    if (left > 0) score_tile<S, kRows, 1, kFinish>(t);
  });
}

/// Which rows of a chain tile take part. `shrinks`: after the common steps row r has r more. `grows`: row r
/// joins after r steps, and the last row has only the common ones.
enum class Triangle : std::uint8_t { none, shrinks, grows };

/// acc[r, n] += chain over t of a[r * row_step + t * step] b[t, n].
template <class real>
struct ChainArgs {
  const real* a;
  std::int64_t row_step;
  std::int64_t step;
  const real* b;
  std::int64_t ldb;
  real* acc;
  std::int64_t ldacc;
  std::int64_t steps;  ///< common to all rows
  bool from_zero;      ///< the chain begins here; otherwise it goes on from acc
};

template <class S, int kRows, int kVecs, int kTail, Triangle kTriangle>
struct ChainTile {
  using real = typename S::real;
  using Vec = typename S::Vec;

  [[gnu::noinline]] static void run(const ChainArgs<real>& c) {
    Vec acc[kRows][kVecs];
    const std::int64_t ldacc = c.ldacc, row_step = c.row_step, step = c.step, ldb = c.ldb;
    if (c.from_zero) {
      each([&](auto r, auto v) __attribute__((always_inline)) { acc[r][v] = Vec::broadcast(0); });
    } else {
      each([&](auto r, auto v) __attribute__((always_inline)) { acc[r][v] = load<v>(c.acc + r * ldacc); });
    }
    const real* a = c.a;
    const real* b = c.b;
    const auto take = [&](auto from, auto count) __attribute__((always_inline)) {
      Vec row[kVecs];
      unrolled<kVecs>([&](auto v) __attribute__((always_inline)) { row[v] = load<v>(b); });
      unrolled<count>([&](auto i) __attribute__((always_inline)) {
        constexpr int r = from + i;
        const Vec scale = Vec::broadcast(a[r * row_step]);
        unrolled<kVecs>([&](auto v) __attribute__((always_inline)) {
          acc[r][v] = mul_add(scale, row[v], acc[r][v]);
        });
      });
      a += step;
      b += ldb;
    };
    if constexpr (kTriangle == Triangle::grows) {
      unrolled<kRows - 1>([&](auto e) __attribute__((always_inline)) { take(Int<0>{}, Int<e + 1>{}); });
    }
    for (std::int64_t t = c.steps; t > 0; --t) take(Int<0>{}, Int<kRows>{});
    if constexpr (kTriangle == Triangle::shrinks) {
      unrolled<kRows - 1>([&](auto e)
                              __attribute__((always_inline)) { take(Int<e + 1>{}, Int<kRows - 1 - e>{}); });
    }
    each([&](auto r, auto v) __attribute__((always_inline)) { store<v>(c.acc + r * ldacc, acc[r][v]); });
  }

 private:
  template <int n>
  using Int = std::integral_constant<int, n>;

  template <class F>
  THIMBLE_INLINE static void each(F f) {
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
      unrolled<kVecs>([&](auto v) __attribute__((always_inline)) { f(r, v); });
    });
  }
  template <int v>
  static constexpr bool is_tail = v + 1 == kVecs&& kTail < S::width;

  template <int v>
  THIMBLE_INLINE static Vec load(const real* row) {
    return is_tail<v> ? Vec::load_first(row + v * S::width, kTail) : Vec::load(row + v * S::width);
  }
  template <int v>
  THIMBLE_INLINE static void store(real* row, Vec x) {
    is_tail<v> ? x.store_first(row + v * S::width, kTail) : x.store(row + v * S::width);
  }
};

/// Chain tiles over `rows` rows and kVecs vectors of columns, the last of which has kTail numbers.
/// `args(r, n)` gives the arguments for the tile of n rows from r on, at the first column.
template <class S, int kVecs, int kTail, Triangle kTriangle, class Args>
THIMBLE_INLINE void chain_panel(std::int64_t rows, std::int64_t column, const Args& args) {
  for_row_tiles<AttentionTiles<S>::chain_rows(kVecs)>(0, rows, [&]<int kRows>(std::int64_t r) {
    ChainArgs<typename S::real> c = args(r, kRows);
    c.b += column;
    c.acc += column;
    ChainTile<S, kRows, kVecs, kTail, kTriangle>::run(c);
  });
}

/// The same over kCols columns: panels of full width, then what is left.
template <class S, int kCols, Triangle kTriangle, class Args>
void chain_tiles(std::int64_t rows, const Args& args) {
  constexpr int kMost = AttentionTiles<S>::kChainVecs;
  constexpr int kPanel = kMost * S::width;
  constexpr int kLeft = kCols % kPanel;
  for (int column = 0; column + kPanel <= kCols; column += kPanel) {
    chain_panel<S, kMost, S::width, kTriangle>(rows, column, args);
  }
  if constexpr (kLeft > 0) {
    constexpr int kVecs = (kLeft + S::width - 1) / S::width;
    chain_panel<S, kVecs, kLeft - (kVecs - 1) * S::width, kTriangle>(rows, kCols - kLeft, args);
  }
}

}  // namespace thimble::detail
