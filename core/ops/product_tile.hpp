#pragma once
/// The register tile of the matrix products: kRows x kVecs vectors of outputs, each a chain of multiply-adds
/// over at most kSumBlock summands, then added to C.

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

/// How a[row, p] is found: `along_k` at a[row * lda + p], `across_k` at a[p * lda + row].
enum class AOrder : std::uint8_t { along_k, across_k };

/// How b[p, column] is found: `across_k` at b[p * ldb + column], `along_k` at b[column * ldb + p].
enum class BOrder : std::uint8_t { along_k, across_k };

/// One tile of work.
template <class real>
struct TileArgs {
  std::int64_t k;
  const real* a;
  std::int64_t lda;
  const real* b;
  std::int64_t ldb;
  real* c;
  std::int64_t ldc;
  const real* bias;  ///< null unless this is the last partial sum
  bool add;          ///< false: C is overwritten
  int tail;          ///< numbers in the last vector of a row, 1..width
};

template <class S, int kRows, int kVecs, AOrder kA, BOrder kB>
struct Tile {
  using real = typename S::real;
  using Vec = typename S::Vec;
  static constexpr int kWidth = S::width;

  [[gnu::noinline]] static void run(const TileArgs<real>& t) {
    Vec acc[kRows][kVecs];
    sum(t, acc);
    update(t, acc);
  }

 private:
  THIMBLE_INLINE static void sum(const TileArgs<real>& t, Vec (&acc)[kRows][kVecs]) {
    unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
      unrolled<kVecs>([&](auto j) __attribute__((always_inline)) { acc[i][j] = Vec::broadcast(0); });
    });
    const std::int64_t lda = t.lda, ldb = t.ldb;
    const int tail = t.tail;
    const real* a = t.a;
    const real* b = t.b;
    for (std::int64_t p = t.k; p > 0; --p) {
      Vec row[kVecs];
      unrolled<kVecs>([&](auto j) __attribute__((always_inline)) {
        row[j] = kB == BOrder::across_k ? load(b, j, tail) : gather(b, ldb, j, tail);
      });
      unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
        const Vec scale = Vec::broadcast(kA == AOrder::along_k ? a[i * lda] : a[i]);
        unrolled<kVecs>([&](auto j) __attribute__((always_inline)) {
          acc[i][j] = mul_add(scale, row[j], acc[i][j]);
        });
      });
      a += kA == AOrder::along_k ? 1 : lda;
      b += kB == BOrder::along_k ? 1 : ldb;
    }
  }

  THIMBLE_INLINE static Vec gather(const real* b, std::int64_t ldb, int j, int tail) {
    const int count = j + 1 == kVecs ? tail : kWidth;
    real lane[kWidth] = {};
    for (int l = 0; l < count; ++l) lane[l] = b[(j * kWidth + l) * ldb];
    return Vec::load(lane);
  }

  THIMBLE_INLINE static void update(const TileArgs<real>& t, Vec (&acc)[kRows][kVecs]) {
    const int tail = t.tail;
    const std::int64_t ldc = t.ldc;
    real* const c = t.c;
    const real* const bias = t.bias;
    const auto each = [&](auto f) __attribute__((always_inline)) {
      unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
        unrolled<kVecs>([&](auto j) __attribute__((always_inline)) { f(i, j); });
      });
    };
    if (t.add) {
      each([&](int i, int j)
               __attribute__((always_inline)) { acc[i][j] = load(c + i * ldc, j, tail) + acc[i][j]; });
    }
    if (bias != nullptr) {
      each([&](int i, int j) __attribute__((always_inline)) { acc[i][j] = acc[i][j] + load(bias, j, tail); });
    }
    each([&](int i, int j) __attribute__((always_inline)) {
      real* const to = c + i * ldc + j * kWidth;
      j + 1 == kVecs ? acc[i][j].store_first(to, tail) : acc[i][j].store(to);
    });
  }

  THIMBLE_INLINE static Vec load(const real* row, int j, int tail) {
    return j + 1 == kVecs ? Vec::load_first(row + j * kWidth, tail) : Vec::load(row + j * kWidth);
  }
};

}  // namespace thimble::detail
