#pragma once
/// Transposition of a block of rows, in registers where there are any.
///
/// Vectors are put together from two pieces of rows, half a vector each. Then squares of numbers are transposed within their
/// 16-byte lanes, and vectors of four lanes exchange them.

#include "core/ops/product_tile.hpp"

namespace thimble::detail {

/// The first `count` rows exist, the others are zeros.
template <class real, int kRows>
class PartOfRows {
 public:
  THIMBLE_INLINE PartOfRows(const real* first, std::ptrdiff_t stride, int count)
      : first_(first), stride_(stride), count_(count) {}
  THIMBLE_INLINE const real* operator[](int row) const { return row < count_ ? first_ + row * stride_ : kZeros; }
  THIMBLE_INLINE void advance(int columns) { first_ += columns; }

 private:
  static constexpr real kZeros[kRows] = {};
  const real* first_;
  std::ptrdiff_t stride_;
  int count_;
};

/// `S::width` rows at a time, in the compiler's own vectors (which it knows how to shuffle).
template <class S>
class Transposition {
  using real = typename S::real;
  static constexpr int kWidth = S::width;
  static constexpr int kLane = 16 / int(sizeof(real));
  static constexpr int kPiece = kWidth / 2;
  using Native [[gnu::vector_size(kWidth * sizeof(real))]] = real;
  using Half [[gnu::vector_size(kPiece * sizeof(real))]] = real;

 public:
  /// to[c * pitch + r] = rows[r][c] for r < kWidth and most c < cols; returns the first column that is left.
  template <class Rows>
  THIMBLE_INLINE static int run(Rows rows, int cols, real* to, std::ptrdiff_t pitch) {
    int left = cols;
    for (; left >= kPiece; left -= kPiece, to += kPiece * pitch, rows.advance(kPiece)) piece<kPiece>(rows, to, pitch);
    if constexpr (kPiece > kLane) {
      for (; left >= kLane; left -= kLane, to += kLane * pitch, rows.advance(kLane)) piece<kLane>(rows, to, pitch);
    }
    return cols - left;
  }

 private:
  /// The next `count` columns.
  template <int count, class Rows>
  THIMBLE_INLINE static void piece(const Rows& rows, real* to, std::ptrdiff_t pitch) {
    Native r[kPiece];
    unrolled<kPiece>([&](auto i) THIMBLE_INLINE_LAMBDA {
      constexpr int in_lane = kLane == 4 ? i % 2 * 2 + i / 2 % 2 : i % 2;  // of four, the middle ones trade places
      constexpr int row = i / kLane * 2 * kLane + in_lane;
      r[i] = join(half<count>(rows[row]), half<count>(rows[row + kLane]));
    });
    if constexpr (kLane == 4) {
      pairs<2>(r, [](auto upper, Native a, Native b) THIMBLE_INLINE_LAMBDA { return interleave<1, upper>(a, b); });
    }
    pairs<1>(r, [](auto upper, Native a, Native b) THIMBLE_INLINE_LAMBDA { return interleave<kLane / 2, upper>(a, b); });
    if constexpr (kPiece > kLane) {
      pairs<kLane>(r, [](auto odd, Native a, Native b) THIMBLE_INLINE_LAMBDA { return every_other_lane<odd>(a, b); });
    }
    unrolled<count>([&](auto i) THIMBLE_INLINE_LAMBDA { __builtin_memcpy(to + i * pitch, &r[i], sizeof(Native)); });
  }

  /// `count` numbers, zeros behind them.
  template <int count>
  THIMBLE_INLINE static Half half(const real* from) {
    Half h{};
    __builtin_memcpy(&h, from, count * sizeof(real));
    return h;
  }

  /// Each two vectors that are `distance` apart become f(0, a, b) and f(1, a, b) of them.
  template <int distance, class F>
  THIMBLE_INLINE static void pairs(Native (&r)[kPiece], F f) {
    unrolled<kPiece>([&](auto i) THIMBLE_INLINE_LAMBDA {
      if constexpr ((i & distance) == 0) {
        const Native a = r[i], b = r[i + distance];
        unrolled<2>([&](auto which) THIMBLE_INLINE_LAMBDA { r[i + which * distance] = f(which, a, b); });
      }
    });
  }

  /// The numbers index(0), index(1) ... of a and, counted on, of b.
  template <class V, class Index>
  THIMBLE_INLINE static Native shuffle(V a, V b, Index index) {
    return [&]<int... i>(std::integer_sequence<int, i...>) THIMBLE_INLINE_LAMBDA {
      return Native(__builtin_shufflevector(a, b, index(i)...));
    }(std::make_integer_sequence<int, kWidth>{});
  }
  THIMBLE_INLINE static Native join(Half first, Half second) {
    return shuffle(first, second, [](int i) constexpr { return i; });
  }
  /// `unit` numbers of a, as many of b, and so on, from the lower halves of their lanes or from the upper ones.
  template <int unit, int upper>
  THIMBLE_INLINE static Native interleave(Native a, Native b) {
    return shuffle(a, b, [](int i) constexpr {
      const int from = i / kLane * kLane + upper * kLane / 2 + i % kLane / (2 * unit) * unit + i % unit;
      return from + i / unit % 2 * kWidth;
    });
  }
  template <int odd>
  THIMBLE_INLINE static Native every_other_lane(Native a, Native b) {
    return shuffle(a, b, [](int i) constexpr { return (2 * (i / kLane) + odd) * kLane + i % kLane; });
  }
};

/// to[c * pitch + r] = from[r * stride + c] for r < rows and c < cols; zeros for r from `rows` to the next
/// multiple of S::width.
template <class S>
void transpose(const typename S::real* from, std::ptrdiff_t stride, int rows, int cols, typename S::real* to,
               std::ptrdiff_t pitch) {
  constexpr int kWidth = S::width;
  const int whole = rows / kWidth * kWidth;  // rows of whole vectors
  int c = 0;
  if constexpr (kHasRegisters<S>) {
    using real = typename S::real;
    for (int r = 0; r < whole; r += kWidth) {
      c = Transposition<S>::run(WholeRows<real, kWidth>(from + r * stride, stride), cols, to + r, pitch);
    }
    if (whole < rows) {
      const PartOfRows<real, kWidth> part(from + whole * stride, stride, rows - whole);
      c = Transposition<S>::run(part, cols, to + whole, pitch);
    }
  }
  for (int i = c; whole < rows && i < cols; ++i) S::Vec::broadcast(0).store(to + i * pitch + whole);
#if THIMBLE_ARM_FPU
  if constexpr (kHasArmFpu<typename S::Vec>) {
    if (cols % 4 == 0 && rows == 8 && pitch == 8) {
      return arm_transpose(from, stride * std::ptrdiff_t(sizeof(float)), cols / 4, to);
    }
  }
#endif
  for (; c < cols; ++c) {
    for (int r = 0; r < rows; ++r) to[c * pitch + r] = from[r * stride + c];
  }
}

}  // namespace thimble::detail
