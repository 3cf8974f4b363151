#pragma once
/// The register tile of products in place: kRows x kVecs vectors of outputs, each a chain of multiply-adds
/// over at most kSumBlock summands, which may begin with the bias, then added to C.

#include <utility>

#include "core/ops/product_args.hpp"

namespace thimble::detail {

/// Calls f(0), f(1) ... f(n - 1) with compile-time integers.
template <int n, class F>
THIMBLE_INLINE void unrolled(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// Rows of which all exist. Every fourth one has a pointer of its own: as many as there are registers for.
template <class real, int kRows>
class WholeRows {
 public:
  THIMBLE_INLINE WholeRows(const real* first, std::ptrdiff_t stride) : stride_(stride) {
    unrolled<(kRows + 3) / 4>([&](auto i) THIMBLE_INLINE_LAMBDA { fourth_[i] = first + 4 * i * stride; });
  }
  THIMBLE_INLINE const real* operator[](int row) const { return fourth_[row / 4] + row % 4 * stride_; }
  THIMBLE_INLINE void advance(int columns) {
    unrolled<(kRows + 3) / 4>([&](auto i) THIMBLE_INLINE_LAMBDA {
      fourth_[i] += columns;
      asm("" : "+r"(fourth_[i]));  // or the compiler makes a pointer to each row
    });
  }

 private:
  const real* fourth_[(kRows + 3) / 4];
  std::ptrdiff_t stride_;
};

/// How a[row, p] is found: `along_k` at a[row * lda + p], `across_k` at a[p * lda + row].
enum class AOrder : std::uint8_t { along_k, across_k };

/// How b[p, column] is found: `across_k` at b[p * ldb + column], `along_k` at b[column * ldb + p].
enum class BOrder : std::uint8_t { along_k, across_k };

/// Where the sums of a tile go.
template <class real>
struct TileResult {
  real* c;
  std::int64_t ldc;
  const real* bias;  ///< what the sums begin with; null: 0
  bool add;          ///< false: C is overwritten
  int tail;          ///< numbers in the last vector of a row, 1..width
  int rows;          ///< rows that exist, at most those of the tile
};

/// Calls f(std::true_type{}) if the last vector of a row is cut, f(std::false_type{}) if it is whole: a masked load takes a
/// multiply-add's turn on some processors. Plain vectors, and those of doubles, which check more than they train, take one
/// way for both, for the size of the code and the time it takes to compile.
template <class S, bool kMasked, class F>
THIMBLE_INLINE void whole_or_cut(int tail, F f) {
  if constexpr (!kMasked) {
    f(std::false_type{});
  } else if constexpr (!kHasRegisters<S> || sizeof(typename S::real) != 4) {
    f(std::true_type{});
  } else if (tail < S::width) {
    f(std::true_type{});
  } else {
    f(std::false_type{});
  }
}

/// The first step of every tile: the sums begin with the bias or with 0.
template <class S, int kRows, int kVecs, bool kMasked>
THIMBLE_INLINE void begin_tile(const TileResult<typename S::real>& result, typename S::Vec (&sum)[kRows][kVecs]) {
  using Vec = typename S::Vec;
  const auto each = [&](auto value) THIMBLE_INLINE_LAMBDA {
    unrolled<kVecs>([&](auto j) THIMBLE_INLINE_LAMBDA {
      const Vec begin = value(j);
      unrolled<kRows>([&](auto i) THIMBLE_INLINE_LAMBDA { sum[i][j] = begin; });
    });
  };
  if (const auto* const bias = result.bias; bias != nullptr) {
    each([&](auto j) THIMBLE_INLINE_LAMBDA {
      const auto* const at = bias + j * S::width;
      return kMasked && j + 1 == kVecs ? Vec::load_first(at, result.tail) : Vec::load(at);
    });
  } else {
    each([](auto) THIMBLE_INLINE_LAMBDA { return Vec::broadcast(0); });
  }
}

/// The last step of every tile: C = sum, or C = C + sum.
/// Whatever else is to be done to finished outputs belongs here. kPartRows: result.rows counts; else all rows
/// exist.
template <class S, int kRows, int kVecs, bool kMasked, bool kPartRows>
THIMBLE_INLINE void update_tile(const TileResult<typename S::real>& result,
                                typename S::Vec (&sum)[kRows][kVecs]) {
  using real = typename S::real;
  using Vec = typename S::Vec;
  const TileResult<real> t = result;
  const auto rows = [&](auto adds, auto masked) THIMBLE_INLINE_LAMBDA {
    real* row = t.c;
    unrolled<kRows>([&](auto i) THIMBLE_INLINE_LAMBDA {
      if (kPartRows && i >= t.rows) return;
      unrolled<kVecs>([&](auto j) THIMBLE_INLINE_LAMBDA {
        constexpr bool part = masked && j + 1 == kVecs;
        real* const to = row + j * S::width;
        if constexpr (adds) sum[i][j] = (part ? Vec::load_first(to, t.tail) : Vec::load(to)) + sum[i][j];
        part ? sum[i][j].store_first(to, t.tail) : sum[i][j].store(to);
      });
      asm("" : "+r"(row));  // or the compiler computes all rows' addresses first, for which it has no registers
      row += t.ldc;
    });
  };
  whole_or_cut<S, kMasked>(t.tail, [&](auto masked) THIMBLE_INLINE_LAMBDA {
    t.add ? rows(std::true_type{}, masked) : rows(std::false_type{}, masked);
  });
}

/// One tile of work in place.
template <class real>
struct TileArgs {
  std::int64_t k;
  const real* a;
  std::int64_t lda;
  const real* b;
  std::int64_t ldb;
  TileResult<real> result;
};

template <class S, int kRows, int kVecs, AOrder kA, BOrder kB>
struct Tile {
  using real = typename S::real;
  using Vec = typename S::Vec;
  static constexpr int kWidth = S::width;

  [[gnu::noinline]] static void run(const TileArgs<real>& t) {
    Vec acc[kRows][kVecs];
    begin_tile<S, kRows, kVecs, true>(t.result, acc);
    const std::int64_t lda = t.lda, ldb = t.ldb;
    const int tail = t.result.tail;
    [[maybe_unused]] WholeRows<real, kRows> rows(t.a, lda);  // of A, along k
    [[maybe_unused]] const real* a = t.a;                    // across k
    const real* b = t.b;
    whole_or_cut<S, true>(tail, [&](auto masked) THIMBLE_INLINE_LAMBDA {
      for (std::int64_t p = t.k; p > 0; --p) {
        Vec row[kVecs];
        unrolled<kVecs>([&](auto j) THIMBLE_INLINE_LAMBDA { row[j] = load<masked>(b, ldb, j, tail); });
        unrolled<kRows>([&](auto i) THIMBLE_INLINE_LAMBDA {
          const Vec scale = Vec::broadcast(kA == AOrder::along_k ? *rows[i] : a[i]);
          unrolled<kVecs>([&](auto j) THIMBLE_INLINE_LAMBDA { acc[i][j] = mul_add(scale, row[j], acc[i][j]); });
        });
        if constexpr (kA == AOrder::along_k) {
          rows.advance(1);
        } else {
          a += lda;
        }
        b += kB == BOrder::along_k ? 1 : ldb;
      }
    });
    update_tile<S, kRows, kVecs, true, false>(t.result, acc);
  }

 private:
  template <bool kMasked>
  THIMBLE_INLINE static Vec load(const real* b, std::int64_t ldb, int j, int tail) {
    if constexpr (kB == BOrder::across_k) {
      return kMasked && j + 1 == kVecs ? Vec::load_first(b + j * kWidth, tail) : Vec::load(b + j * kWidth);
    } else {
      const int count = j + 1 == kVecs ? tail : kWidth;
      real lane[kWidth] = {};
      for (int l = 0; l < count; ++l) lane[l] = b[(j * kWidth + l) * ldb];
      return Vec::load(lane);
    }
  }
};

}  // namespace thimble::detail
