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
/// What a tile does with its sums: overwrites C or adds to it, and adds the bias; overwrites C with their products and
/// the one number at `bias`; multiplies C by them less the bias.
enum class ArmFinish : std::int32_t { overwrite, accumulate, scale, gradient };

/// A column of tiles: 2 pairs rows by 8 columns. Distances between rows are in bytes.
struct ArmPanel {
  const float* a;
  const float* b;  ///< [k, 8]
  float* c;
  const float* bias;  ///< null: none
  std::int32_t lda;
  std::int32_t ldc;
  std::int32_t k;
  std::int32_t pairs;  ///< at least 1
  ArmFinish finish;
  const float* begin;   ///< kArmZeros, or null where the sums in c go on
  /// Set by `tiles`: 0 where the sums overwrite c, the bias where only that is added, else 1.
  std::intptr_t after;
};
static_assert(offsetof(ArmPanel, lda) == 16 && offsetof(ArmPanel, after) == 40);

// The sums are s0 to s7 (upper row) and s8 to s15 (lower row). r0: the panel, r4: B, r6: `after`, r7: pairs left, r8:
// where A goes on, r9: ldc, r10: lda, r11: the tile's place in C, r12: zeros or null, lr: k.
#define THIMBLE_ARM_BEGIN                                                                                  \
  "push {r4-r11, lr}\n vpush {s16-s31}\n ldr r1, [r0]\n ldr r4, [r0, #4]\n ldr r11, [r0, #8]\n"           \
  "ldr r10, [r0, #16]\n ldr r9, [r0, #20]\n ldr lr, [r0, #24]\n ldr r7, [r0, #28]\n ldr r12, [r0, #36]\n"  \
  "ldr r6, [r0, #40]\n"
/// Adds to every sum the product of the row of B at r3 and a number of its own row.
#define THIMBLE_ARM_STEP(upper, lower)                                                                        \
  "vldmia r3!, {s16-s23}\n"                                                                                   \
  "vfma.f32 s0, s16, " upper "\n vfma.f32 s8, s16, " lower "\n vfma.f32 s1, s17, " upper "\n vfma.f32 s9, s17, " lower \
  "\n vfma.f32 s2, s18, " upper "\n vfma.f32 s10, s18, " lower "\n vfma.f32 s3, s19, " upper                   \
  "\n vfma.f32 s11, s19, " lower "\n vfma.f32 s4, s20, " upper "\n vfma.f32 s12, s20, " lower                  \
  "\n vfma.f32 s5, s21, " upper "\n vfma.f32 s13, s21, " lower "\n vfma.f32 s6, s22, " upper                   \
  "\n vfma.f32 s14, s22, " lower "\n vfma.f32 s7, s23, " upper "\n vfma.f32 s15, s23, " lower "\n"
/// A tile: `start` sets r1 (and r2), `eight` does 8 summands, `one` does one, `next` goes on to the next rows of A.
#define THIMBLE_ARM_TILES(start, eight, one, next)                                                          \
  "0: cmp r12, #0\n beq 7f\n vldmia r12, {s0-s15}\n"                                                       \
  "6: mov r3, r4\n" start "lsrs r5, lr, #3\n beq 2f\n"                                                     \
  "1:\n" eight "subs r5, #1\n bne 1b\n"                                                                    \
  "2: ands r5, lr, #7\n bne 3f\n"                                                                          \
  "4: cbnz r6, 5f\n"                                                                                      \
  "8: vstmia r11, {s0-s7}\n add r11, r9\n vstmia r11, {s8-s15}\n add r11, r9\n" next                       \
  "subs r7, #1\n bne 0b\n vpop {s16-s31}\n pop {r4-r11, pc}\n"                                             \
  "3:\n" one "subs r5, #1\n bne 3b\n b 4b\n"                                                               \
  "7: vldmia r11, {s0-s7}\n add r3, r11, r9\n vldmia r3, {s8-s15}\n b 6b\n"                                \
  "5: cmp r6, #1\n beq 9f\n vldmia r6, {s16-s23}\n" THIMBLE_ARM_BOTH("vadd.f32") "b 8b\n"                \
  "9: ldr r5, [r0, #32]\n ldr r3, [r0, #12]\n cmp r5, #2\n blt 10f\n bgt 11f\n"                            \
  "vldr s16, [r3]\n" THIMBLE_ARM_LOW_BY("vmul.f32", "s16") THIMBLE_ARM_HIGH_BY("vmul.f32", "s16") "b 8b\n" \
  "11: vldmia r3, {s16-s23}\n" THIMBLE_ARM_BOTH("vsub.f32") THIMBLE_ARM_WITH_C("vmul.f32") "b 8b\n"        \
  "10:" THIMBLE_ARM_WITH_C("vadd.f32")                                                                     \
  "cmp r3, #0\n beq 8b\n vldmia r3, {s16-s23}\n" THIMBLE_ARM_BOTH("vadd.f32") "b 8b\n"
#define THIMBLE_ARM_BOTH(op) THIMBLE_ARM_UPPER_ROW(op) THIMBLE_ARM_LOWER_ROW(op)
#define THIMBLE_ARM_WITH_C(op)                                                                             \
  "vldmia r11, {s16-s23}\n" THIMBLE_ARM_UPPER_ROW(op)                                                       \
  "add r5, r11, r9\n vldmia r5, {s16-s23}\n" THIMBLE_ARM_LOWER_ROW(op)
#define THIMBLE_ARM_UPPER_ROW(op)                                                                            \
  THIMBLE_ARM_EACH8(op, "s0", "s0", "s16", "s1", "s1", "s17", "s2", "s2", "s18", "s3", "s3", "s19",          \
                    "s4", "s4", "s20", "s5", "s5", "s21", "s6", "s6", "s22", "s7", "s7", "s23")
#define THIMBLE_ARM_LOWER_ROW(op)                                                                            \
  THIMBLE_ARM_EACH8(op, "s8", "s8", "s16", "s9", "s9", "s17", "s10", "s10", "s18", "s11", "s11", "s19",      \
                    "s12", "s12", "s20", "s13", "s13", "s21", "s14", "s14", "s22", "s15", "s15", "s23")

/// Rows of A are those of C: four numbers of two rows at a time.
#define THIMBLE_ARM_FOUR                                                                                     \
  "vldmia r1!, {s24-s27}\n vldmia r2!, {s28-s31}\n" THIMBLE_ARM_STEP("s24", "s28") THIMBLE_ARM_STEP("s25", "s29") \
  THIMBLE_ARM_STEP("s26", "s30") THIMBLE_ARM_STEP("s27", "s31")
[[gnu::naked, gnu::noinline]] inline void arm_tiles_along(ArmPanel*) {
  asm(THIMBLE_ARM_BEGIN "sub r8, r10, lr, lsl #2\n"
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
#undef THIMBLE_ARM_BOTH
#undef THIMBLE_ARM_WITH_C
#undef THIMBLE_ARM_UPPER_ROW
#undef THIMBLE_ARM_LOWER_ROW

template <class S, ProductKind kKind>
struct ArmProduct {
  static constexpr int kRows = 2;
  static constexpr int kCols = 8;
  static constexpr bool kAcross = kKind == ProductKind::tn;  ///< of A, in memory
  static constexpr std::int32_t kBytes = sizeof(float);
  static constexpr std::int32_t kDepth = 64;  ///< rows of B that are copied at a time: 2 KiB

  /// Workers share panels of columns; the first one does the rest.
  static void run(const ProductArgs<float>& args, const Worker& worker) {
    const std::ptrdiff_t m = args.m, n = args.n;
    const std::ptrdiff_t rows = m - (kAcross ? m % kRows : 0), cols = n - n % kCols;
    const Range panels = worker.share(cols / kCols);
    for (std::ptrdiff_t i = panels.begin; i < panels.end; ++i) panel(args, std::int32_t(rows), std::int32_t(i * kCols));
    if (worker.index != 0 || (rows == m && cols == n)) return;
    for (std::ptrdiff_t row = 0; row < m; ++row) {
      for (std::ptrdiff_t col = row < rows ? cols : 0; col < n; ++col) single(args, row, col);
    }
  }

  /// All rows of a panel.
  static void tiles(ArmPanel& x, std::int32_t rows) {
    x.pairs = rows / kRows;
    x.after = x.finish == ArmFinish::overwrite ? reinterpret_cast<std::intptr_t>(x.bias) : 1;
    if (rows % kRows != 0) single_row(x, rows - 1);
    if (x.pairs > 0) run_tiles(x);
  }

 private:
  static void run_tiles(ArmPanel& x) { kAcross ? arm_tiles_across(&x) : arm_tiles_along(&x); }

  /// The first `rows` rows of 8 columns of the result, from `col` on.
  static void panel(const ProductArgs<float>& args, std::int32_t rows, std::int32_t col) {
    const auto k = std::int32_t(args.k), ldc = std::int32_t(args.ldc);
    ArmPanel x;
    x.lda = std::int32_t(args.lda) * kBytes;
    std::int32_t p = 0;
    do {
      const std::int32_t left = k - p, length = left < std::int32_t(kSumBlock) ? left : std::int32_t(kSumBlock);
      const float* const bias = length == left && args.bias != nullptr ? args.bias + col : nullptr;
      const bool adds = p > 0 || args.update == Update::accumulate;
      float* const c = args.c + col;
      if (!adds || length <= kDepth) {
        x.c = c;
        x.ldc = ldc * kBytes;
        block(x, args, rows, 0, col, p, length, adds ? ArmFinish::accumulate : ArmFinish::overwrite, bias);
      } else {
        by_groups(x, args, rows, col, p, length, bias);
      }
      p += std::int32_t(kSumBlock);
    } while (p < k);
  }

  /// Partial sums of several copies of B, which are added to C: some rows at a time, beside C.
  [[gnu::noinline]] static void by_groups(ArmPanel& x, const ProductArgs<float>& args, std::int32_t rows,
                                          std::int32_t col, std::int32_t p, std::int32_t length, const float* bias) {
    constexpr std::int32_t kGroup = 16, kStep = kCols * kBytes;
    float sums[kGroup][kCols];
    const std::int32_t ldc = std::int32_t(args.ldc);
    for (std::int32_t row = 0; row < rows; row += kGroup) {
      const std::int32_t count = rows - row < kGroup ? rows - row : kGroup;
      float* const c = args.c + row * ldc + col;
      x.c = sums[0];
      x.ldc = kStep;
      block(x, args, count, row, col, p, length, ArmFinish::overwrite, nullptr);
      arm_add_rows(c, ldc * kBytes, c, ldc * kBytes, sums[0], kStep, count);
      if (bias != nullptr) arm_add_rows(c, ldc * kBytes, c, ldc * kBytes, bias, 0, count);
    }
  }

  /// The sums over p ... p + length of rows from `row` on.
  [[gnu::noinline]] static void block(ArmPanel& x, const ProductArgs<float>& args, std::int32_t rows, std::int32_t row,
                                      std::int32_t col, std::int32_t p, std::int32_t length, ArmFinish finish,
                                      const float* bias) {
    float b[kDepth * kCols];
    const auto lda = std::int32_t(args.lda), ldb = std::int32_t(args.ldb);
    x.b = b;
    x.begin = kArmZeros;
    std::int32_t done = 0;
    do {
      const bool last = length - done <= kDepth;
      const std::int32_t at = p + done;
      x.k = last ? length - done : kDepth;
      x.a = args.a + (kAcross ? at * lda + row : row * lda + at);
      x.finish = last ? finish : ArmFinish::overwrite;
      x.bias = last ? bias : nullptr;
      if constexpr (kKind == ProductKind::nt) {
        transpose(args.b + col * ldb + at, ldb, x.k, b);
      } else {
        arm_copy_rows(args.b + at * ldb + col, ldb * kBytes, x.k, b);
      }
      tiles(x, rows);
      x.begin = nullptr;
      done += kDepth;
    } while (done < length);
  }

  static void transpose(const float* from, std::int32_t ld, std::int32_t k, float* to) {
    if (k >= 4) arm_transpose(from, ld * kBytes, k / 4, to, kCols * kBytes);
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
      float sum = 0;
      for (std::ptrdiff_t end = p + std::ptrdiff_t(kSumBlock) < k ? p + std::ptrdiff_t(kSumBlock) : k; p < end; ++p) {
        sum = S::mul_add(*a, *b, sum);
        a += a_step;
        b += b_step;
      }
      c = add ? c + sum : sum;
      add = true;
    } while (p < k);
    if (args.bias != nullptr) c = c + args.bias[col];
  }
};
#endif

}  // namespace thimble::detail
