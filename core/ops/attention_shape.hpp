#pragma once
/// Sizes of attention: what is known of its shape, its blocks, and its scratch.

#include "core/simd/arch.hpp"
#include "core/tape/tape.hpp"

namespace thimble::detail {

/// 1 / sqrt(n) for n < 2^26, rounded once: Newton's iteration, and a last step by the residual 1 - n x^2, for
/// which the products are split into exact halves (Dekker).
THIMBLE_INLINE constexpr double inverse_root(int n) {
  const auto upper = [](double a) { return a * 134217729.0 - (a * 134217729.0 - a); };
  double x = 1;
  while (x * x * n > 1) x *= 0.5;
  for (int i = 0; i < 8; ++i) x *= 1.5 - 0.5 * n * x * x;
  const double square = x * x, high = upper(x), low = x - high, square_high = upper(square);
  const double square_error = ((high * high - square) + 2 * high * low) + low * low;
  const double residual = ((1 - n * square_high) - n * (square - square_high)) - n * square_error;
  return x + 0.5 * x * residual;
}
static_assert(inverse_root(1) == 1 && inverse_root(16) == 0.25 && inverse_root(64) == 0.125);

template <class real>
struct AttentionShape {
  int C;  ///< width
  int H;  ///< heads
  int D;  ///< width of a head
  real scale;

  explicit constexpr AttentionShape(const Dims& d)
      : C(d.in), H(d.heads), D(d.in / d.heads), scale(real(inverse_root(d.in / d.heads))) {}
};

/// Rows of numbers, `stride` apart.
template <class real>
struct Rows {
  real* at = nullptr;
  std::ptrdiff_t stride = 0;

  THIMBLE_INLINE real* operator[](std::ptrdiff_t row) const { return at + row * stride; }
  THIMBLE_INLINE Rows from(std::ptrdiff_t row) const { return {at + row * stride, stride}; }
  THIMBLE_INLINE Rows right(std::ptrdiff_t columns) const { return {at + columns, stride}; }
  THIMBLE_INLINE operator Rows<const real>() const { return {at, stride}; }
};

/// How attention cuts sequences of T tokens in heads of width D, and what scratch each worker needs for it,
/// in numbers. All of it depends on the shape alone, and nothing shrinks when T grows: a run may be shorter
/// than the plan's longest.
struct AttentionBlocks {
  std::ptrdiff_t T;
  std::ptrdiff_t D;
  std::ptrdiff_t pitch;  ///< queries in a block, and the distance between rows of what is stored by queries
  std::ptrdiff_t count;  ///< blocks
  /// Are heads copied, so that their rows lie side by side? Rows that are a multiple of some power of two
  /// apart fall into few sets of a cache, and each into a page of its own.
  bool packs;

  THIMBLE_INLINE constexpr AttentionBlocks(std::ptrdiff_t tokens, std::ptrdiff_t width)
      : T(tokens),
        D(width),
        pitch(T <= 16  ? 16
              : D < 16 ? (T <= 64 ? 16 : 32)
                       : (T <= 32 ? 32 : 64)),
        count((T + pitch - 1) / pitch),
        packs(T * D >= 4096) {}

  THIMBLE_INLINE constexpr std::ptrdiff_t forward_scratch() const {
    return (2 + D + T) * pitch + (packs ? 2 * T * D : 0);
  }
  THIMBLE_INLINE constexpr std::ptrdiff_t backward_scratch() const {
    return (3 + 2 * D + pitch) * pitch + (packs ? 3 * pitch * D + 4 * T * D : 2 * pitch * D);
  }
  THIMBLE_INLINE constexpr std::ptrdiff_t decode_scratch() const { return (2 + D + T) * kDecodePitch; }

  static constexpr int kDecodePitch = 16;
};

}  // namespace thimble::detail
