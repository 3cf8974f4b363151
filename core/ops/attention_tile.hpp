#pragma once
/// Register tiles of causal attention. All of them vectorise over outputs; each output is one chain of
/// multiply-adds over ascending summands.

#include "core/ops/attention_arm.hpp"
#include "core/ops/transpose.hpp"

namespace thimble::detail {

/// Sizes of the register tiles: rows by native vectors.
template <class S>
struct AttentionTiles {
  static constexpr bool kIs512 = S::width * sizeof(typename S::real) == 64;
  static constexpr bool kIsPlain = !kHasRegisters<S>;
  static constexpr int kScoreRows = kIs512 ? 8 : kIsPlain ? 4 : 6;
  static constexpr int kScoreVecs = kIsPlain ? 1 : 2;
  static constexpr int kChainVecs = kIs512 ? 4 : kIsPlain ? 1 : 2;
  static constexpr int chain_rows(int vecs) { return kIsPlain ? 4 : kIs512 && vecs < 4 ? 8 : 6; }
};

/// Calls body.operator()<n>(row, live) for tiles that together cover 0..rows: kMost rows as long as there are
/// so many, then the smallest of 1, 2, 4 and kMost that holds the rest, of which only `live` rows count.
template <int kMost, class Body>
THIMBLE_INLINE void for_row_tiles(std::ptrdiff_t rows, const Body& body) {
  std::ptrdiff_t r = 0;
  for (; rows - r >= kMost; r += kMost) body.template operator()<kMost>(r, kMost);
  const int live = int(rows - r);
  if constexpr (kMost > 4) {
    if (live > 4) return body.template operator()<kMost>(r, live);
  }
  if (live > 2) return body.template operator()<4>(r, live);
  if (live == 2) return body.template operator()<2>(r, live);
  if (live == 1) return body.template operator()<1>(r, live);
}

/// The columns of scores: `transpose`, or for Arm's FPU the same for every 8 rows on their own, side by side.
template <class S>
void transpose_queries(const typename S::real* from, std::ptrdiff_t stride, int rows, int cols, typename S::real* to,
                       std::ptrdiff_t pitch) {
  if constexpr (kHasArmFpu<typename S::Vec>) {
    for (int r = 0; r < rows; r += 8) {
      transpose<S>(from + r * stride, stride, rows - r < 8 ? rows - r : 8, cols, to + r * cols, 8);
    }
  } else {
    transpose<S>(from, stride, rows, cols, to, pitch);
  }
}

/// What a score tile does with its sums x: `scale` stores x scale, `scale_and_top` also raises a maximum per
/// column to it, `gradient` replaces the P that it finds by P (x - dot of the column).
enum class ScoreFinish : std::uint8_t { scale, scale_and_top, gradient };

/// to[r, n] from x = chain over d of rows[r, d] columns[d, n], for whole native vectors of n.
template <class real>
struct ScoreArgs {
  const real* rows;
  std::ptrdiff_t stride;  ///< between rows
  const real* columns;
  std::ptrdiff_t pitch;  ///< between rows of `columns` and of `to`
  std::ptrdiff_t depth;
  real* to;
  real scale;
  real* per_column;  ///< maxima or dots
};

/// kRows rows from `row` on, of which `live` count, by kVecs vectors from `first` on.
template <class S, int kRows, int kVecs, ScoreFinish kFinish>
class ScoreTile {
  using real = typename S::real;
  using Vec = typename S::Vec;

 public:
  [[gnu::noinline]] static void run(const ScoreArgs<real>& t, std::ptrdiff_t row, std::ptrdiff_t first,
                                    int live) {
    Vec acc[kRows][kVecs];
    unrolled<kRows>([&](auto r) THIMBLE_INLINE_LAMBDA {
      unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA { acc[r][v] = Vec::broadcast(0); });
    });
    const real* rows = t.rows + row * t.stride;
    const real* columns = t.columns + first;
    const std::ptrdiff_t pitch = t.pitch;
    std::ptrdiff_t offset[kRows];  // rows that do not count are the last one again
    unrolled<kRows>([&](auto r) THIMBLE_INLINE_LAMBDA { offset[r] = (r < live ? r : live - 1) * t.stride; });
    for (std::ptrdiff_t d = t.depth; d > 0; --d) {
      Vec column[kVecs];
      unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA { column[v] = Vec::load(columns + v * S::width); });
      unrolled<kRows>([&](auto r) THIMBLE_INLINE_LAMBDA {
        const Vec row = Vec::broadcast(rows[offset[r]]);
        unrolled<kVecs>([&](auto v)
                            THIMBLE_INLINE_LAMBDA { acc[r][v] = mul_add(row, column[v], acc[r][v]); });
      });
      ++rows;
      columns += pitch;
    }
    finish(acc, t, t.to + row * pitch + first, t.per_column + first, live);
  }

 private:
  THIMBLE_INLINE static void finish(Vec (&acc)[kRows][kVecs], const ScoreArgs<real>& t, real* to,
                                    real* per_column, int live) {
    Vec column[kVecs];
    if constexpr (kFinish != ScoreFinish::scale) {
      unrolled<kVecs>([&](auto v)
                          THIMBLE_INLINE_LAMBDA { column[v] = Vec::load(per_column + v * S::width); });
    }
    unrolled<kRows>([&](auto r) THIMBLE_INLINE_LAMBDA {
      if (r >= live) return;
      unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA {
        real* const at = to + v * S::width;
        if constexpr (kFinish == ScoreFinish::gradient) {
          (Vec::load(at) * (acc[r][v] - column[v])).store(at);
        } else {
          const Vec s = acc[r][v] * Vec::broadcast(t.scale);
          s.store(at);
          if constexpr (kFinish == ScoreFinish::scale_and_top) column[v] = maximum(s, column[v]);
        }
      });
      to += t.pitch;
    });
    if constexpr (kFinish == ScoreFinish::scale_and_top) {
      unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA { column[v].store(per_column + v * S::width); });
    }
  }
};

#if THIMBLE_ARM_FPU
/// The tiles of score_tiles: 8 queries at a time, with all keys that one of them sees, `before` of which come before the
/// diagonal. `columns` are as from transpose_queries.
template <class S, ScoreFinish kFinish>
[[gnu::noinline]] void arm_score_tiles(const ScoreArgs<float>& args, std::int32_t keys, int vecs, bool diagonal,
                                       std::int32_t before = 0) {
  static_assert(kFinish != ScoreFinish::scale_and_top);
  constexpr auto kBytes = std::int32_t(sizeof(float));
  constexpr bool kScales = kFinish == ScoreFinish::scale;
  ArmPanel x;
  x.a = args.rows;
  x.lda = std::int32_t(args.stride) * kBytes;
  x.ldc = std::int32_t(args.pitch) * kBytes;
  x.begin = kArmZeros;
  x.k = std::int32_t(args.depth);
  x.finish = kScales ? ArmFinish::scale : ArmFinish::gradient;
  for (std::int32_t column = 0; column < vecs * S::width; column += 8) {
    x.b = args.columns + column * std::int32_t(args.depth);
    x.c = args.to + column;
    x.numbers = kScales ? &args.scale : args.per_column + column;
    ArmProduct<S, ProductKind::nn>::tiles(x, diagonal && before + column + 8 < keys ? before + column + 8 : keys);
  }
}
#endif

/// Score tiles over `keys` rows and `vecs` vectors of queries. In a diagonal block query n sees keys 0..n:
/// vectors that see none of a tile's keys are left out.
template <class S, ScoreFinish kFinish>
THIMBLE_INLINE void score_tiles(const ScoreArgs<typename S::real>& args, std::ptrdiff_t keys, int vecs,
                                bool diagonal) {
#if THIMBLE_ARM_FPU
  if constexpr (kHasArmFpu<typename S::Vec>) {
    return arm_score_tiles<S, kFinish>(args, std::int32_t(keys), vecs, diagonal);
  }
#endif
  using Tiles = AttentionTiles<S>;
  for_row_tiles<Tiles::kScoreRows>(keys, [&]<int kRows>(std::ptrdiff_t key, int live) THIMBLE_INLINE_LAMBDA {
    int v = diagonal ? int(key) / S::width : 0;
    for (; v + Tiles::kScoreVecs <= vecs; v += Tiles::kScoreVecs) {
      ScoreTile<S, kRows, Tiles::kScoreVecs, kFinish>::run(args, key, v * S::width, live);
    }
    static_assert(Tiles::kScoreVecs <= 2);
    if (v < vecs) ScoreTile<S, kRows, 1, kFinish>::run(args, key, v * S::width, live);
  });
}

/// Which rows of a chain tile take part when. `shrinks`: after the common steps row r has r more. `grows`:
/// row r joins after r steps.
enum class Triangle : std::uint8_t { none, shrinks, grows };

/// sums[r, n] goes on by the chain over t of a[r * row_step + t * step] b[t, n].
template <class real>
struct ChainArgs {
  const real* a;
  std::ptrdiff_t row_step;
  std::ptrdiff_t step;
  const real* b;
  std::ptrdiff_t ldb;
  real* sums;
  std::ptrdiff_t ldsums;
  std::ptrdiff_t steps;  ///< of row 0 where rows shrink or grow, else of all
  bool from_zero;      ///< the chain begins here
  const real* scales;  ///< the chain ends here, and sums[r] is multiplied by scales[r * scale_step]; or null
  std::ptrdiff_t scale_step;
  int cols;
};

/// kRows rows from `row` on, of which `live` count, by kVecs vectors from column 0 on. kTail: the last vector
/// of each row has only args.cols - (kVecs - 1) * width numbers.
template <class S, int kRows, int kVecs, bool kTail, Triangle kTriangle>
class ChainTile {
  using real = typename S::real;
  using Vec = typename S::Vec;

 public:
  [[gnu::noinline]] static void run(const ChainArgs<real>& c, std::ptrdiff_t first, int live) {
    Vec acc[kRows][kVecs];
    const std::ptrdiff_t ldsums = c.ldsums, row_step = c.row_step, step = c.step, ldb = c.ldb;
    real* const sums = c.sums + first * ldsums;
    const int tail = c.cols - (kVecs - 1) * S::width;
    each([&](auto r, auto v) THIMBLE_INLINE_LAMBDA { acc[r][v] = Vec::broadcast(0); });
    if (!c.from_zero) {
      each([&](auto r, auto v) THIMBLE_INLINE_LAMBDA {
        if (r < live) acc[r][v] = load<v>(sums + r * ldsums, tail);
      });
    }
    constexpr bool grows = kTriangle == Triangle::grows;
    const std::ptrdiff_t skipped = grows ? first : 0;
    const std::ptrdiff_t steps = c.steps - skipped + (kTriangle == Triangle::shrinks ? first : 0);
    const real* a = c.a + first * row_step + skipped * step;
    const real* b = c.b + skipped * ldb;
    const auto take = [&](auto from, auto count) THIMBLE_INLINE_LAMBDA {
      Vec row[kVecs];
      unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA { row[v] = load<v>(b, tail); });
      unrolled<count>([&](auto i) THIMBLE_INLINE_LAMBDA {
        constexpr int r = from + i;
        const Vec x = Vec::broadcast(a[r * row_step]);
        unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA { acc[r][v] = mul_add(x, row[v], acc[r][v]); });
      });
      a += step;
      b += ldb;
    };
    if constexpr (grows) {
      unrolled<kRows - 1>([&](auto e) THIMBLE_INLINE_LAMBDA {
        if (e < steps) take(Int<0>{}, Int<e + 1>{});
      });
    }
    for (std::ptrdiff_t t = grows ? steps - (kRows - 1) : steps; t > 0; --t) take(Int<0>{}, Int<kRows>{});
    if constexpr (kTriangle == Triangle::shrinks) {
      unrolled<kRows - 1>([&](auto e) THIMBLE_INLINE_LAMBDA {
        if (e + 1 < live) take(Int<e + 1>{}, Int<kRows - 1 - e>{});
      });
    }
    if (c.scales != nullptr) {
      unrolled<kRows>([&](auto r) THIMBLE_INLINE_LAMBDA {
        if (r >= live) return;
        const Vec scale = Vec::broadcast(c.scales[(first + r) * c.scale_step]);
        unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA { acc[r][v] = acc[r][v] * scale; });
      });
    }
    each([&](auto r, auto v) THIMBLE_INLINE_LAMBDA {
      if (r < live) store<v>(sums + r * ldsums, acc[r][v], tail);
    });
  }

 private:
  template <int n>
  using Int = std::integral_constant<int, n>;

  template <class F>
  THIMBLE_INLINE static void each(F f) {
    unrolled<kRows>([&](auto r) THIMBLE_INLINE_LAMBDA {
      unrolled<kVecs>([&](auto v) THIMBLE_INLINE_LAMBDA { f(r, v); });
    });
  }
  template <int v>
  static constexpr bool is_tail = kTail&& v + 1 == kVecs;

  template <int v>
  THIMBLE_INLINE static Vec load(const real* row, int tail) {
    return is_tail<v> ? Vec::load_first(row + v * S::width, tail) : Vec::load(row + v * S::width);
  }
  template <int v>
  THIMBLE_INLINE static void store(real* row, Vec x, int tail) {
    is_tail<v> ? x.store_first(row + v * S::width, tail) : x.store(row + v * S::width);
  }
};

#if THIMBLE_ARM_FPU
/// Chain tiles over all pairs of rows and the first 8 columns; returns the number of rows.
template <Triangle kTriangle>
std::ptrdiff_t arm_chain(const ChainArgs<float>& args, std::ptrdiff_t rows) {
  constexpr auto kBytes = std::int32_t(sizeof(float));
  const bool across = args.row_step == 1;
  ArmChain c = {args.a,
                args.b,
                args.sums,
                args.scales,
                std::int32_t(across ? args.step : args.row_step) * kBytes,
                std::int32_t(args.ldb) * kBytes,
                std::int32_t(args.ldsums) * kBytes,
                std::int32_t(args.steps),
                std::int32_t(rows) / 2,
                args.from_zero,
                std::int32_t(args.scale_step) * kBytes,
                kTriangle == Triangle::none ? 0 : 2};
  if (c.pairs > 0) across ? arm_chain_across(&c) : arm_chain_along(&c);
  return rows / 2 * 2;
}
#endif

#if THIMBLE_ARM_FPU
/// Rows first..rows of `cols` columns, number by number.
template <Triangle kTriangle>
[[gnu::noinline]] void arm_chain_rest(const ChainArgs<float>& c, std::ptrdiff_t first, std::ptrdiff_t rows, int cols) {
  for (std::ptrdiff_t r = first; r < rows; ++r) {
    const std::ptrdiff_t begin = kTriangle == Triangle::grows ? r : 0;
    const std::ptrdiff_t end = c.steps + (kTriangle == Triangle::shrinks ? r : 0);
    for (int n = 0; n < cols; ++n) {
      float& sum = c.sums[r * c.ldsums + n];
      float x = c.from_zero ? 0 : sum;
      const float* a = c.a + r * c.row_step + begin * c.step;
      const float* b = c.b + begin * c.ldb + n;
      for (std::ptrdiff_t t = begin; t < end; ++t, a += c.step, b += c.ldb) x = __builtin_fmaf(*a, *b, x);
      sum = c.scales != nullptr ? x * c.scales[r * c.scale_step] : x;
    }
  }
}
#endif

/// Chain tiles over all rows and columns.
template <class S, Triangle kTriangle>
void chain_tiles(ChainArgs<typename S::real> args, std::ptrdiff_t rows) {
  using Tiles = AttentionTiles<S>;
  const auto panel = [&]<int kVecs, bool kTail>() THIMBLE_INLINE_LAMBDA {
    for_row_tiles<Tiles::chain_rows(kVecs)>(
        rows, [&]<int kRows>(std::ptrdiff_t r, int live) THIMBLE_INLINE_LAMBDA {
          ChainTile<S, kRows, kVecs, kTail, kTriangle>::run(args, r, live);
        });
    args.b += kVecs * S::width;
    args.sums += kVecs * S::width;
    args.cols -= kVecs * S::width;
  };
#if THIMBLE_ARM_FPU
  if constexpr (kHasArmFpu<typename S::Vec>) {
    for (; args.cols >= 8; args.cols -= 8, args.b += 8, args.sums += 8) {
      const std::ptrdiff_t done = arm_chain<kTriangle>(args, rows);
      if (done < rows) arm_chain_rest<kTriangle>(args, done, rows, 8);
    }
    if (args.cols > 0) arm_chain_rest<kTriangle>(args, 0, rows, args.cols);
    return;
  }
#endif
  while (args.cols >= Tiles::kChainVecs * S::width) panel.template operator()<Tiles::kChainVecs, false>();
  if constexpr (Tiles::kChainVecs > 2) {
    if (args.cols >= 2 * S::width) panel.template operator()<2, false>();
  }
  if constexpr (Tiles::kChainVecs > 1) {
    if (args.cols >= S::width) panel.template operator()<1, false>();
  }
  if (args.cols > 0) panel.template operator()<1, true>();
}

}  // namespace thimble::detail
