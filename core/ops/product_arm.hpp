#pragma once
/// Products on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55): tiles of 2 rows
/// by 8 columns of outputs, and loads of several numbers (vldm), neither of which GCC makes of C++. Eight columns of B
/// are copied to the stack, row after row: then one instruction loads what a step takes of them.
///
/// Each output is the chain that Tile computes. What does not fill a tile is computed number by number.

#include <cstddef>

#include "core/ops/product_args.hpp"
#include "core/simd/arm.hpp"

namespace thimble::detail {

#if THIMBLE_ARM_FPU
/// What a tile does with its sums before they overwrite C: nothing, adds C, multiplies by the one number at `numbers`, or
/// takes the eight at `numbers` off and multiplies by C.
enum class ArmFinish : std::int32_t { none, accumulate, scale, gradient };

/// A column of tiles: 2 pairs rows by 8 columns. Distances between rows are in bytes. The order is that of the registers
/// that hold them.
struct ArmPanel {
  const float* a;
  const float* b;       ///< [k, 8]
  /// Set by `tiles`: 0 where there is no more to do than whole eights of summands that begin at `begin`. Else the finish, 4
  /// where the sums begin with C or there are no summands, 8 where there are summands beside the eights.
  std::int32_t special;
  std::int32_t pairs;    ///< set by `tiles`: at least 1
  std::int32_t ldc;
  std::int32_t lda;
  float* c;
  const float* begin;   ///< what the sums of two rows begin with: sixteen numbers; null: C
  std::int32_t eights;  ///< set by `tiles`: k / 8
  std::int32_t k;
  const float* numbers;
  ArmFinish finish;
};
static_assert(offsetof(ArmPanel, k) == 36 && offsetof(ArmPanel, numbers) == 40);

// The sums are s0 to s7 (upper row) and s8 to s15 (lower row). r0: the panel, r4: B, r6: special, r7: pairs left, r8: where
// A goes on, r9: ldc, r10: lda, r11: the tile's place in C, r12: begin, lr: eights.
#define THIMBLE_ARM_BEGIN "push {r4-r11, lr}\n vpush {s16-s31}\n ldmia r0, {r1, r4, r6, r7, r9, r10, r11, r12, lr}\n"
/// Adds to every sum the product of the row of B at r3 and a number of its own row.
#define THIMBLE_ARM_STEP(upper, lower) \
  "vldmia r3!, {s16-s23}\n" THIMBLE_ARM_EACH_BY("vfma.f32", A, C, upper) THIMBLE_ARM_EACH_BY("vfma.f32", B, C, lower)
/// A tile: `start` sets r1 (and r2), `eight` does 8 summands, `one` does one, `next` goes on to the next rows of A.
#define THIMBLE_ARM_TILES(start, eight, one, next)                                                        \
  "cmp r6, #0\n bne.w 7f\n"                                                                              \
  "0: vldmia r12, {s0-s15}\n mov r3, r4\n" start "mov r5, lr\n"                                         \
  "1:\n" eight "subs r5, #1\n bne 1b\n cbnz r6, 2f\n" THIMBLE_ARM_STORE                                \
  next "subs r7, #1\n bne 0b\n"                                                                          \
  "9: vpop {s16-s31}\n pop {r4-r11, pc}\n"                                                              \
  /* the other summands */                                                                               \
  "2: tst r6, #8\n beq 4f\n ldr r5, [r0, #36]\n and r5, #7\n"                                              \
  "3:\n" one "subs r5, #1\n bne 3b\n"                                                                   \
  /* the finish */                                                                                       \
  "4: ands r5, r6, #3\n beq 6f\n ldr r3, [r0, #40]\n cmp r5, #2\n blt 10f\n bgt 11f\n"                  \
  "vldr s16, [r3]\n" THIMBLE_ARM_EACH_BY("vmul.f32", A, A, "s16") THIMBLE_ARM_EACH_BY("vmul.f32", B, B, "s16") \
  "6:" THIMBLE_ARM_STORE next "subs r7, #1\n beq 9b\n"                                                   \
  /* the beginning */                                                                                    \
  "7: cmp r12, #0\n bne 8f\n vldmia r11, {s0-s7}\n add r3, r11, r9\n vldmia r3, {s8-s15}\n b 12f\n"     \
  "8: vldmia r12, {s0-s15}\n 12: mov r3, r4\n" start "movs r5, lr\n bne 1b\n b 2b\n"                    \
  "11: vldmia r3, {s16-s23}\n" THIMBLE_ARM_BOTH("vsub.f32") THIMBLE_ARM_WITH_C("vmul.f32") "b 6b\n"      \
  "10:" THIMBLE_ARM_WITH_C("vadd.f32") "b 6b\n"
#define THIMBLE_ARM_STORE "vstmia r11, {s0-s7}\n add r11, r9\n vstmia r11, {s8-s15}\n add r11, r9\n"
#define THIMBLE_ARM_BOTH(op) THIMBLE_ARM_EACH(op, A, A, C) THIMBLE_ARM_EACH(op, B, B, C)
#define THIMBLE_ARM_WITH_C(op)                                                                             \
  "vldmia r11, {s16-s23}\n" THIMBLE_ARM_EACH(op, A, A, C)                                                  \
  "add r5, r11, r9\n vldmia r5, {s16-s23}\n" THIMBLE_ARM_EACH(op, B, B, C)

/// Rows of A are those of C: four numbers of two rows at a time.
#define THIMBLE_ARM_FOUR                                                                                     \
  "vldmia r1!, {s24-s27}\n vldmia r2!, {s28-s31}\n" THIMBLE_ARM_STEP("s24", "s28") THIMBLE_ARM_STEP("s25", "s29") \
  THIMBLE_ARM_STEP("s26", "s30") THIMBLE_ARM_STEP("s27", "s31")
[[gnu::naked, gnu::noinline]] inline void arm_tiles_along(ArmPanel*) {
  asm(THIMBLE_ARM_BEGIN "ldr r8, [r0, #36]\n sub r8, r10, r8, lsl #2\n"
      THIMBLE_ARM_TILES("add r2, r1, r10\n", THIMBLE_ARM_FOUR THIMBLE_ARM_FOUR,
                        "vldmia r1!, {s24}\n vldmia r2!, {s28}\n" THIMBLE_ARM_STEP("s24", "s28"), "add r1, r2, r8\n"));
}
#undef THIMBLE_ARM_FOUR

/// Rows of C lie across those of A: two neighbours by one load.
#define THIMBLE_ARM_ONE "vldr d12, [r1]\n add r1, r10\n" THIMBLE_ARM_STEP("s24", "s25")
[[gnu::naked, gnu::noinline]] inline void arm_tiles_across(ArmPanel*) {
  asm(THIMBLE_ARM_BEGIN "mov r8, r1\n"
      THIMBLE_ARM_TILES("mov r1, r8\n add r8, #8\n",
                        THIMBLE_ARM_ONE THIMBLE_ARM_ONE THIMBLE_ARM_ONE THIMBLE_ARM_ONE
                        THIMBLE_ARM_ONE THIMBLE_ARM_ONE THIMBLE_ARM_ONE THIMBLE_ARM_ONE, THIMBLE_ARM_ONE, ""));
}
#undef THIMBLE_ARM_ONE
#undef THIMBLE_ARM_BEGIN
#undef THIMBLE_ARM_STEP
#undef THIMBLE_ARM_TILES
#undef THIMBLE_ARM_STORE
#undef THIMBLE_ARM_BOTH
#undef THIMBLE_ARM_WITH_C

template <class S, ProductKind kKind>
struct ArmProduct {
  static constexpr int kRows = 2;
  static constexpr int kCols = 8;
  static constexpr bool kAcross = kKind == ProductKind::tn;  ///< of A, in memory
  static constexpr std::int32_t kBytes = sizeof(float);
  static constexpr std::int32_t kDepth = 64;  ///< rows of B that are copied at a time: 2 KiB

  /// Workers share panels of columns; the first one does the rest.
  static void run(const ProductArgs<float>& args, const Worker& worker) {
    const auto m = std::int32_t(args.m), n = std::int32_t(args.n);
    const std::int32_t rows = m - (kAcross ? m % kRows : 0), cols = n - n % kCols;
    const Range panels = worker.share(cols / kCols);
    float b[kDepth * kCols];
    ArmPanel x;
    x.b = b;
    x.lda = std::int32_t(args.lda) * kBytes;
    x.ldc = std::int32_t(args.ldc) * kBytes;
    x.numbers = nullptr;
    for (std::ptrdiff_t i = panels.begin; i < panels.end; ++i) panel(x, args, b, rows, std::int32_t(i * kCols));
    if (worker.index != 0 || (rows == m && cols == n)) return;
    for (std::ptrdiff_t row = 0; row < m; ++row) {
      for (std::ptrdiff_t col = row < rows ? cols : 0; col < n; ++col) single(args, row, col);
    }
  }

  /// All rows of a panel.
  THIMBLE_INLINE static void tiles(ArmPanel& x, std::int32_t rows) {
    x.pairs = rows / kRows;
    x.eights = x.k / 8;
    x.special = std::int32_t(x.finish) | (x.begin == nullptr || x.k == 0 ? 4 : 0) | ((x.k & 7) != 0 ? 8 : 0);
    if (rows % kRows != 0) single_row(x, rows - 1);
    if (x.pairs > 0) run_tiles(x);
  }

 private:
  THIMBLE_INLINE static void run_tiles(ArmPanel& x) { kAcross ? arm_tiles_across(&x) : arm_tiles_along(&x); }

  /// The first `rows` rows of 8 columns of the result, from `col` on; `b` has room for kDepth rows.
  static void panel(ArmPanel& x, const ProductArgs<float>& args, float* b, std::int32_t rows, std::int32_t col) {
    const auto k = std::int32_t(args.k);
    float begin[kRows * kCols];
    x.begin = kArmZeros;
    if (args.bias != nullptr) {
      arm_copy_rows(args.bias + col, 0, kRows, begin);
      x.begin = begin;
    }
    const bool adds = args.update == Update::accumulate;
    if (k <= kDepth) {
      x.c = args.c + col;
      x.finish = adds ? ArmFinish::accumulate : ArmFinish::none;
      sum(x, args, b, rows, 0, col, 0, k);
    } else {
      by_depth(x, args, b, rows, col, adds);
    }
  }

  /// The same for more summands than one copy of B holds. Sums that are added to C are made beside it, some rows at a time.
  [[gnu::noinline]] static void by_depth(ArmPanel& x, const ProductArgs<float>& args, float* b, std::int32_t rows,
                                         std::int32_t col, bool adds) {
    constexpr std::int32_t kGroup = 16, kStep = kCols * kBytes;
    const auto k = std::int32_t(args.k), ldc = std::int32_t(args.ldc);
    float sums[kGroup][kCols];
    x.finish = ArmFinish::none;
    for (std::int32_t p = 0; p < k; p += std::int32_t(kSumBlock)) {
      const std::int32_t length = k - p < std::int32_t(kSumBlock) ? k - p : std::int32_t(kSumBlock);
      const std::int32_t group = adds ? kGroup : rows;
      const float* const begin = x.begin;
      for (std::int32_t row = 0; row < rows; row += group) {
        const std::int32_t count = rows - row < group ? rows - row : group;
        float* const c = args.c + row * ldc + col;
        x.c = adds ? sums[0] : c;
        x.ldc = adds ? kStep : ldc * kBytes;
        x.begin = begin;
        for (std::int32_t done = 0; done < length; done += kDepth) {
          sum(x, args, b, count, row, col, p + done, length - done < kDepth ? length - done : kDepth);
          x.begin = nullptr;
        }
        if (adds) arm_add_rows(c, ldc * kBytes, c, ldc * kBytes, sums[0], kStep, count);
      }
      x.begin = kArmZeros;
      adds = true;
    }
    x.ldc = ldc * kBytes;
  }

  /// The sums over p ... p + length, at most kDepth, of rows from `row` on.
  THIMBLE_INLINE static void sum(ArmPanel& x, const ProductArgs<float>& args, float* b, std::int32_t rows,
                                 std::int32_t row, std::int32_t col, std::int32_t p, std::int32_t length) {
    const auto lda = std::int32_t(args.lda), ldb = std::int32_t(args.ldb);
    x.k = length;
    x.a = args.a + (kAcross ? p * lda + row : row * lda + p);
    if constexpr (kKind == ProductKind::nt) {
      transpose(args.b + col * ldb + p, ldb, length, b);
    } else {
      arm_copy_rows(args.b + p * ldb + col, ldb * kBytes, length, b);
    }
    tiles(x, rows);
  }

  static void transpose(const float* from, std::int32_t ld, std::int32_t k, float* to) {
    if (k >= 4) arm_transpose(from, ld * kBytes, k / 4, to);
    for (std::int32_t p = k & ~3; p < k; ++p) {
      for (int j = 0; j < kCols; ++j) to[p * kCols + j] = from[j * ld + p];
    }
  }

  /// A row that has no other: it is its own neighbour, whose sums go nowhere.
  [[gnu::noinline]] static void single_row(ArmPanel x, std::int32_t row) {
    float nowhere[kCols] = {};
    x.a += row * (x.lda / kBytes);
    x.c += row * (x.ldc / kBytes);
    x.lda = 0;
    x.ldc = std::int32_t(reinterpret_cast<std::intptr_t>(nowhere) - reinterpret_cast<std::intptr_t>(x.c));
    x.pairs = 1;
    run_tiles(x);
  }

  static void single(const ProductArgs<float>& args, std::ptrdiff_t row, std::ptrdiff_t col) {
    const auto k = std::ptrdiff_t(args.k), lda = std::ptrdiff_t(args.lda), ldb = std::ptrdiff_t(args.ldb);
    const std::ptrdiff_t a_step = kAcross ? lda : 1, b_step = kKind == ProductKind::nt ? 1 : ldb;
    const float* a = args.a + (kAcross ? row : row * lda);
    const float* b = args.b + (kKind == ProductKind::nt ? col * ldb : col);
    float& c = args.c[row * std::ptrdiff_t(args.ldc) + col];
    bool add = args.update == Update::accumulate;
    std::ptrdiff_t p = 0;
    do {
      float sum = p == 0 && args.bias != nullptr ? args.bias[col] : 0;
      for (std::ptrdiff_t end = p + std::ptrdiff_t(kSumBlock) < k ? p + std::ptrdiff_t(kSumBlock) : k; p < end; ++p) {
        sum = S::mul_add(*a, *b, sum);
        a += a_step;
        b += b_step;
      }
      c = add ? c + sum : sum;
      add = true;
    } while (p < k);
  }
};
#endif

}  // namespace thimble::detail
