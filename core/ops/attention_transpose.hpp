#pragma once
/// Transposition of a block of rows, in registers where there are wide ones.

#include "core/ops/product_tile.hpp"

namespace thimble::detail {

/// Does the processor have vector registers (or are vectors plain C++)?
template <class S>
inline constexpr bool kHasRegisters = requires {
  typename S::Vec::Register;
};

/// A square of numbers, kWidth on a side, in the compiler's own vectors (which it knows how to shuffle).
template <class S, int kWidth>
class TransposedSquare {
  using real = typename S::real;
  using Native [[gnu::vector_size(kWidth * sizeof(real))]] = real;

 public:
  /// `rows` rows from `from`; zeros below.
  THIMBLE_INLINE TransposedSquare(const real* from, std::ptrdiff_t stride, int rows) {
    unrolled<kWidth>([&](auto r) THIMBLE_INLINE_LAMBDA {
      row_[r] = Native{};
      if (r < rows) __builtin_memcpy(&row_[r], from + r * stride, sizeof(Native));
    });
    swap_quarters<kWidth / 2>();
  }
  THIMBLE_INLINE void store(real* to, std::ptrdiff_t pitch) const {
    unrolled<kWidth>(
        [&](auto r) THIMBLE_INLINE_LAMBDA { __builtin_memcpy(to + r * pitch, &row_[r], sizeof(Native)); });
  }

 private:
  /// Swaps the upper right with the lower left quarter of every square of 2 n, for n = half, half / 2 ... 1.
  template <int half>
  THIMBLE_INLINE void swap_quarters() {
    unrolled<kWidth>([&](auto r) THIMBLE_INLINE_LAMBDA {
      if constexpr ((r & half) == 0) {
        swap<half>(row_[r], row_[r + half], std::make_integer_sequence<int, kWidth>{});
      }
    });
    if constexpr (half > 1) swap_quarters<half / 2>();
  }
  template <int half, int... i>
  THIMBLE_INLINE static void swap(Native& a, Native& b, std::integer_sequence<int, i...>) {
    const Native upper = __builtin_shufflevector(a, b, ((i & half) != 0 ? kWidth + i - half : i)...);
    b = __builtin_shufflevector(a, b, ((i & half) != 0 ? kWidth + i : i + half)...);
    a = upper;
  }

  Native row_[kWidth];
};

/// Transposes squares from column c on, as many as fit into `cols`; returns the first column that is left.
template <class S, int kWidth>
THIMBLE_INLINE int transpose_squares(const typename S::real* from, std::ptrdiff_t stride, int rows, int c,
                                     int cols, typename S::real* to, std::ptrdiff_t pitch) {
  for (; cols - c >= kWidth; c += kWidth) {
    for (int r = 0; r < rows; r += kWidth) {
      TransposedSquare<S, kWidth>(from + r * stride + c, stride, rows - r).store(to + c * pitch + r, pitch);
    }
  }
  return c;
}

/// to[c * pitch + r] = from[r * stride + c] for r < rows and c < cols; zeros for r from `rows` to the next
/// multiple of S::width.
template <class S>
void transpose(const typename S::real* from, std::ptrdiff_t stride, int rows, int cols, typename S::real* to,
               std::ptrdiff_t pitch) {
  const int last = rows / S::width * S::width;
  for (int c = 0; last < rows && c < cols; ++c) S::Vec::broadcast(0).store(to + c * pitch + last);
  int c = 0;
  if constexpr (kHasRegisters<S>) {
    c = transpose_squares<S, S::width>(from, stride, rows, c, cols, to, pitch);
    if constexpr (S::width > 4) c = transpose_squares<S, 4>(from, stride, rows, c, cols, to, pitch);
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

}  // namespace thimble::detail
