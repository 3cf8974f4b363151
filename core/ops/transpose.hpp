#pragma once
/// Transposition of a block of rows, in registers where there are any.
///
/// Vectors are put together from two pieces of rows, half a vector each. Then squares of numbers are transposed within
/// their 16-byte lanes, and vectors of four lanes exchange them.

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

/// kWidth rows at a time, in the compiler's own vectors (which it knows how to shuffle).
template <class real, int kWidth>
class Transposition {
  static constexpr int kLane = 16 / int(sizeof(real));
  using Native [[gnu::vector_size(kWidth * sizeof(real))]] = real;

 public:
  /// Columns that are transposed at a time.
  static constexpr int kPiece = kWidth == kLane ? kLane : kWidth / 2;

  /// to[c * pitch + r] = rows[r][c] for r < kWidth and c < cols, a multiple of kPiece.
  template <class Rows>
  THIMBLE_INLINE static void run(Rows rows, int cols, real* to, std::ptrdiff_t pitch) {
    for (; cols > 0; cols -= kPiece, to += kPiece * pitch, rows.advance(kPiece)) piece(rows, to, pitch);
  }

 private:
  template <class Rows>
  THIMBLE_INLINE static void piece(const Rows& rows, real* to, std::ptrdiff_t pitch) {
    Native r[kPiece];
    unrolled<kPiece>([&](auto i) THIMBLE_INLINE_LAMBDA {
      constexpr int in_lane = kLane == 4 ? i % 2 * 2 + i / 2 % 2 : i % 2;  // of four, the middle ones trade places
      constexpr int row = i / kLane * 2 * kLane + in_lane;
      if constexpr (kWidth == kLane) {
        __builtin_memcpy(&r[i], rows[row], sizeof(Native));
      } else {
        r[i] = join(rows[row], rows[row + kLane]);
      }
    });
    if constexpr (kLane == 4) {
      pairs<2>(r, [](auto upper, Native a, Native b) THIMBLE_INLINE_LAMBDA { return interleave<1, upper>(a, b); });
    }
    pairs<1>(r, [](auto upper, Native a, Native b)
                    THIMBLE_INLINE_LAMBDA { return interleave<kLane / 2, upper>(a, b); });
    if constexpr (kPiece > kLane) {
      pairs<kLane>(r, [](auto odd, Native a, Native b) THIMBLE_INLINE_LAMBDA { return every_other_lane<odd>(a, b); });
    }
    unrolled<kPiece>([&](auto i) THIMBLE_INLINE_LAMBDA { __builtin_memcpy(to + i * pitch, &r[i], sizeof(Native)); });
  }

  /// The numbers from `first` on in the lower half, those from `second` on in the upper one.
  THIMBLE_INLINE static Native join(const real* first, const real* second) {
    using Half [[gnu::vector_size(kPiece * sizeof(real))]] = real;
    Half lower, upper;
    __builtin_memcpy(&lower, first, sizeof(Half));
    __builtin_memcpy(&upper, second, sizeof(Half));
    return shuffle(lower, upper, [](int i) constexpr { return i; });
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

/// Transposes all rows, kWidth at a time, and as many columns from c on as there are whole pieces; returns the next
/// one. Where the last rows do not fill a vector, zeros stand in for the others.
template <int kWidth, class real>
THIMBLE_INLINE int transpose_pieces(const real* from, std::ptrdiff_t stride, int rows, int c, int cols, real* to,
                                    std::ptrdiff_t pitch) {
  using Block = Transposition<real, kWidth>;
  const int count = (cols - c) / Block::kPiece * Block::kPiece;
  if (count == 0) return c;
  int r = 0;
  for (; rows - r >= kWidth; r += kWidth) {
    Block::run(WholeRows<real, kWidth>(from + r * stride + c, stride), count, to + c * pitch + r, pitch);
  }
  if (r < rows) {
    Block::run(PartOfRows<real, kWidth>(from + r * stride + c, stride, rows - r), count, to + c * pitch + r, pitch);
  }
  return c + count;
}

/// to[c * pitch + r] = from[r * stride + c] for r < rows and c < cols; zeros for r from `rows` to the next
/// multiple of S::width.
template <class S>
void transpose(const typename S::real* from, std::ptrdiff_t stride, int rows, int cols, typename S::real* to,
               std::ptrdiff_t pitch) {
  constexpr int kLane = 16 / int(sizeof(typename S::real));
  int c = 0;
  if constexpr (kHasRegisters<S>) c = transpose_pieces<S::width>(from, stride, rows, c, cols, to, pitch);
  const int last = rows / S::width * S::width;
  for (int i = c; last < rows && i < cols; ++i) S::Vec::broadcast(0).store(to + i * pitch + last);
  if constexpr (kHasRegisters<S> && S::width > 2 * kLane) {  // pieces were wider
    c = transpose_pieces<kLane>(from, stride, rows, c, cols, to, pitch);
  }
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
