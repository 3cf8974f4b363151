#pragma once
/// Sizes. Widths are static; the number of token rows is chosen per run, up to what the plan has room for.

#include <cstdint>

namespace thimble {

/// How many sequences and how long a run's step is: B sequences of T tokens.
struct Extent {
  std::int32_t batch = 1;
  std::int32_t context = 1;
  constexpr std::int64_t tokens() const { return std::int64_t(batch) * context; }
  constexpr bool operator==(const Extent&) const = default;
};

/// What counts the rows of a value: a fixed number, or the tokens B x T of the run.
enum class RowKind : std::uint8_t { fixed, tokens };

/// Rows x columns, row-major. `rank` is how users see it: 0 a number, 1 a vector [cols], 2 a matrix.
struct Shape {
  RowKind kind = RowKind::fixed;
  std::uint8_t rank = 2;
  std::int32_t fixed_rows = 1;
  std::int32_t cols = 1;

  static constexpr Shape scalar() { return {RowKind::fixed, 0, 1, 1}; }
  static constexpr Shape vector(int cols) { return {RowKind::fixed, 1, 1, cols}; }
  static constexpr Shape matrix(int rows, int cols) { return {RowKind::fixed, 2, rows, cols}; }
  static constexpr Shape per_token(int cols) { return {RowKind::tokens, 2, 1, cols}; }

  constexpr std::int64_t rows(const Extent& e) const {
    return kind == RowKind::tokens ? e.tokens() : fixed_rows;
  }
  constexpr std::int64_t count(const Extent& e) const { return rows(e) * cols; }
  /// The same rows with another number of columns.
  constexpr Shape with_cols(int n) const { return {kind, rank, fixed_rows, n}; }
  constexpr bool operator==(const Shape&) const = default;
};

}  // namespace thimble
