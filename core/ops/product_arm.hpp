#pragma once
/// Products in place on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55): tiles
/// of 2 rows by 8 columns of outputs, and loads of several numbers (vldm), neither of which GCC makes of C++.
///
/// Each output is the chain that Tile computes. What does not fill a tile is computed number by number.

#include <cstddef>

#include "core/ops/product_args.hpp"
#include "core/simd/arm.hpp"

namespace thimble::detail {

#if THIMBLE_ARM_FPU
/// What a tile does with its sums: overwrites C or adds to it, and adds the bias; overwrites C with their products and
/// the one number at `bias`; multiplies C by them less the bias. Only products nn know the last two.
enum class ArmFinish : std::int32_t { overwrite, accumulate, scale, gradient };

/// A column of tiles: 2 pairs rows by 8 columns. Distances between rows are in bytes.
struct ArmPanel {
  const float* a;
  const float* b;
  float* c;
  const float* bias;  ///< null: none
  std::int32_t lda;
  std::int32_t ldb;
  std::int32_t ldc;
  std::int32_t k;
  std::int32_t pairs;  ///< at least 1
  ArmFinish finish;
};
static_assert(offsetof(ArmPanel, bias) == 12 && offsetof(ArmPanel, k) == 28 && offsetof(ArmPanel, finish) == 36);

// The sums are s0 to s7 (upper row) and s8 to s15 (lower row); r0 is the panel, r11 the tile's place in C.
#define THIMBLE_ARM_BEGIN "push {r4-r11, lr}\n vpush {s16-s31}\n ldr r11, [r0, #8]\n"
#define THIMBLE_ARM_ZERO "adr r12, 9f\n vldmia r12, {s0-s15}\n"
/// Adds to every sum the product of s16 ... s23 and a number of its row.
#define THIMBLE_ARM_MULTIPLY_ADD(upper, lower)                                            \
  "vfma.f32 s0, s16, " upper "\n vfma.f32 s8, s16, " lower "\n vfma.f32 s1, s17, " upper  \
  "\n vfma.f32 s9, s17, " lower "\n vfma.f32 s2, s18, " upper "\n vfma.f32 s10, s18, " lower \
  "\n vfma.f32 s3, s19, " upper "\n vfma.f32 s11, s19, " lower "\n vfma.f32 s4, s20, " upper \
  "\n vfma.f32 s12, s20, " lower "\n vfma.f32 s5, s21, " upper "\n vfma.f32 s13, s21, " lower \
  "\n vfma.f32 s6, s22, " upper "\n vfma.f32 s14, s22, " lower "\n vfma.f32 s7, s23, " upper \
  "\n vfma.f32 s15, s23, " lower "\n"
/// The row of B at r3, and on to the next.
#define THIMBLE_ARM_ROW_OF_B "vldmia r3, {s16-s23}\n add r3, r4\n"
#define THIMBLE_ARM_ADD_LOWER                                                                    \
  "vadd.f32 s8, s24, s8\n vadd.f32 s9, s25, s9\n vadd.f32 s10, s26, s10\n vadd.f32 s11, s27, s11\n" \
  "vadd.f32 s12, s28, s12\n vadd.f32 s13, s29, s13\n vadd.f32 s14, s30, s14\n vadd.f32 s15, s31, s15\n"
#define THIMBLE_ARM_ADD_UPPER                                                                  \
  "vadd.f32 s0, s16, s0\n vadd.f32 s1, s17, s1\n vadd.f32 s2, s18, s2\n vadd.f32 s3, s19, s3\n" \
  "vadd.f32 s4, s20, s4\n vadd.f32 s5, s21, s5\n vadd.f32 s6, s22, s6\n vadd.f32 s7, s23, s7\n"
/// The sums go to C: r9 is ldc, r10 the bias, r7 the number of pairs left. Then on to the next pair.
#define THIMBLE_ARM_FINISH(before_branch, others, at_others)                                 \
  "4: ldr r5, [r0, #36]\n cbz r5, 5f\n" others                                              \
  "vldmia r11, {s16-s23}\n add r12, r11, r9\n vldmia r12, {s24-s31}\n"                      \
  THIMBLE_ARM_ADD_UPPER THIMBLE_ARM_ADD_LOWER                                               \
  "5: cmp r10, #0\n beq 6f\n vldmia r10, {s16-s23}\n vldmia r10, {s24-s31}\n"               \
  THIMBLE_ARM_ADD_UPPER THIMBLE_ARM_ADD_LOWER                                               \
  "6: vstmia r11, {s0-s7}\n add r11, r9\n vstmia r11, {s8-s15}\n add r11, r9\n"             \
  "subs r7, #1\n" before_branch "bne 0b\n vpop {s16-s31}\n pop {r4-r11, pc}\n"              \
  at_others                                                                                  \
  ".balign 4\n 9: .zero 64\n"
#define THIMBLE_ARM_OTHERS "cmp r5, #2\n beq 7f\n bgt 8f\n"
#define THIMBLE_ARM_AT_OTHERS                                                                \
  "7: vldr s16, [r10]\n" THIMBLE_ARM_LOW_BY("vmul.f32", "s16") THIMBLE_ARM_HIGH_BY("vmul.f32", "s16") "b 6b\n" \
  "8: vldmia r10, {s16-s23}\n"                                                              \
  THIMBLE_ARM_LOW_AND("vsub.f32", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7")             \
  THIMBLE_ARM_LOW_AND("vsub.f32", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15")       \
  "vldmia r11, {s16-s23}\n"                                                                 \
  THIMBLE_ARM_LOW_AND("vmul.f32", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7")             \
  "add r12, r11, r9\n vldmia r12, {s16-s23}\n"                                              \
  THIMBLE_ARM_LOW_AND("vmul.f32", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15") "b 6b\n"
/// A row of sums in place with s16 to s23.
#define THIMBLE_ARM_LOW_AND(op, a, b, c, d, e, f, g, h)                                                           \
  THIMBLE_ARM_EACH8(op, a, a, "s16", b, b, "s17", c, c, "s18", d, d, "s19", e, e, "s20", f, f, "s21", g, g, "s22", h, h, \
                    "s23")
// r8: the pair's first row or column of A, r6: lda, r4: ldb, lr: k.
#define THIMBLE_ARM_LOAD_ROWS                                                                                \
  "ldr r8, [r0]\n ldr r10, [r0, #12]\n ldr r6, [r0, #16]\n ldr r4, [r0, #20]\n ldr r9, [r0, #24]\n"        \
  "ldr lr, [r0, #28]\n ldr r7, [r0, #32]\n"

/// The panels of the three kinds of products.
template <ProductKind kKind>
struct ArmTiles;

template <>
struct ArmTiles<ProductKind::nn> {
  /// Four columns of A at a time.
  [[gnu::naked, gnu::noinline]] static void run(ArmPanel*) {
    asm(THIMBLE_ARM_BEGIN THIMBLE_ARM_LOAD_ROWS
        "0:\n" THIMBLE_ARM_ZERO
        "mov r1, r8\n add r2, r8, r6\n add r8, r2, r6\n ldr r3, [r0, #4]\n lsrs r5, lr, #2\n beq 2f\n"
        "1: vldmia r1!, {s24-s27}\n vldmia r2!, {s28-s31}\n"
        THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s24", "s28")
        THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s25", "s29")
        THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s26", "s30")
        THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s27", "s31")
        "subs r5, #1\n bne 1b\n"
        "2: ands r5, lr, #3\n beq 4f\n"
        "3: vldmia r1!, {s24}\n vldmia r2!, {s28}\n" THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s24", "s28")
        "subs r5, #1\n bne 3b\n"
        THIMBLE_ARM_FINISH("", THIMBLE_ARM_OTHERS, THIMBLE_ARM_AT_OTHERS));
  }
};

template <>
struct ArmTiles<ProductKind::tn> {
  /// Both numbers of a row of A by one load.
  [[gnu::naked, gnu::noinline]] static void run(ArmPanel*) {
    asm(THIMBLE_ARM_BEGIN THIMBLE_ARM_LOAD_ROWS
        "0:\n" THIMBLE_ARM_ZERO
        "mov r1, r8\n add r8, #8\n ldr r3, [r0, #4]\n lsrs r5, lr, #2\n beq 2f\n"
        "1:\n"
        "vldr d12, [r1]\n add r1, r6\n" THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s24", "s25")
        "vldr d12, [r1]\n add r1, r6\n" THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s24", "s25")
        "vldr d12, [r1]\n add r1, r6\n" THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s24", "s25")
        "vldr d12, [r1]\n add r1, r6\n" THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s24", "s25")
        "subs r5, #1\n bne 1b\n"
        "2: ands r5, lr, #3\n beq 4f\n"
        "3: vldr d12, [r1]\n add r1, r6\n" THIMBLE_ARM_ROW_OF_B THIMBLE_ARM_MULTIPLY_ADD("s24", "s25")
        "subs r5, #1\n bne 3b\n"
        THIMBLE_ARM_FINISH("", "", ""));
  }
};

#define THIMBLE_ARM_FOUR_OF_B(at, upper, lower)                                                \
  "vldmia " at "!, {s24-s27}\n"                                                                \
  "vfma.f32 " upper ", s16, s24\n vfma.f32 " lower ", s20, s24\n vfma.f32 " upper ", s17, s25\n" \
  "vfma.f32 " lower ", s21, s25\n vfma.f32 " upper ", s18, s26\n vfma.f32 " lower ", s22, s26\n" \
  "vfma.f32 " upper ", s19, s27\n vfma.f32 " lower ", s23, s27\n"
#define THIMBLE_ARM_ONE_OF_B(at, upper, lower) \
  "vldmia " at "!, {s24}\n vfma.f32 " upper ", s16, s24\n vfma.f32 " lower ", s20, s24\n"
#define THIMBLE_ARM_COLUMNS_OF_B(numbers)                                                               \
  numbers("r3", "s0", "s8") numbers("r4", "s1", "s9") numbers("r5", "s2", "s10") numbers("r6", "s3", "s11") \
  numbers("r7", "s4", "s12") numbers("r8", "s5", "s13") numbers("r9", "s6", "s14") numbers("r10", "s7", "s15")

template <>
struct ArmTiles<ProductKind::nt> {
  /// A pointer for each column of the tile, r3 to r10; four numbers of each at a time.
  [[gnu::naked, gnu::noinline]] static void run(ArmPanel*) {
    asm(THIMBLE_ARM_BEGIN
        "0:\n" THIMBLE_ARM_ZERO
        "ldr r1, [r0]\n ldr r12, [r0, #16]\n add r2, r1, r12\n add r12, r2\n str r12, [r0]\n"
        "ldr r3, [r0, #4]\n ldr r12, [r0, #20]\n add r4, r3, r12\n add r5, r4, r12\n add r6, r5, r12\n"
        "add r7, r6, r12\n add r8, r7, r12\n add r9, r8, r12\n add r10, r9, r12\n"
        "ldr lr, [r0, #28]\n lsrs lr, lr, #2\n beq 2f\n"
        "1: vldmia r1!, {s16-s19}\n vldmia r2!, {s20-s23}\n" THIMBLE_ARM_COLUMNS_OF_B(THIMBLE_ARM_FOUR_OF_B)
        "subs lr, #1\n bne 1b\n"
        "2: ldr lr, [r0, #28]\n ands lr, lr, #3\n beq 7f\n"
        "3: vldmia r1!, {s16}\n vldmia r2!, {s20}\n" THIMBLE_ARM_COLUMNS_OF_B(THIMBLE_ARM_ONE_OF_B)
        "subs lr, #1\n bne 3b\n"
        "7: ldr r7, [r0, #32]\n ldr r9, [r0, #24]\n ldr r10, [r0, #12]\n"
        THIMBLE_ARM_FINISH("str r7, [r0, #32]\n", "", ""));
  }
};

#undef THIMBLE_ARM_BEGIN
#undef THIMBLE_ARM_ZERO
#undef THIMBLE_ARM_MULTIPLY_ADD
#undef THIMBLE_ARM_ROW_OF_B
#undef THIMBLE_ARM_ADD_LOWER
#undef THIMBLE_ARM_ADD_UPPER
#undef THIMBLE_ARM_FINISH
#undef THIMBLE_ARM_OTHERS
#undef THIMBLE_ARM_AT_OTHERS
#undef THIMBLE_ARM_LOW_AND
#undef THIMBLE_ARM_LOAD_ROWS
#undef THIMBLE_ARM_FOUR_OF_B
#undef THIMBLE_ARM_ONE_OF_B
#undef THIMBLE_ARM_COLUMNS_OF_B

template <class S, ProductKind kKind>
struct ArmProduct {
  static constexpr int kRows = 2;
  static constexpr int kCols = 8;
  static constexpr bool kAcross = kKind == ProductKind::tn;  ///< of A, in memory

  /// Workers share panels of columns; the first one does the rest.
  static void run(const ProductArgs<float>& args, const Worker& worker) {
    const std::ptrdiff_t m = args.m, n = args.n;
    const std::ptrdiff_t rows = m - (kAcross ? m % kRows : 0), cols = n - n % kCols;
    const Range panels = worker.share(cols / kCols);
    for (std::ptrdiff_t i = panels.begin; i < panels.end; ++i) panel(args, rows, i * kCols);
    if (worker.index != 0) return;
    for (std::ptrdiff_t row = 0; row < m; ++row) {
      for (std::ptrdiff_t col = row < rows ? cols : 0; col < n; ++col) single(args, row, col);
    }
  }

  /// The first `rows` rows of 8 columns of the result, from `col` on.
  static void panel(const ProductArgs<float>& args, std::ptrdiff_t rows, std::ptrdiff_t col) {
    constexpr auto kBytes = std::int32_t(sizeof(float));
    const auto k = std::int32_t(args.k);
    const auto lda = std::int32_t(args.lda), ldb = std::int32_t(args.ldb), ldc = std::int32_t(args.ldc);
    ArmPanel x;
    x.lda = lda * kBytes;
    x.ldb = ldb * kBytes;
    x.ldc = ldc * kBytes;
    std::int32_t p = 0;
    do {
      const bool last = p + std::int32_t(kSumBlock) >= k;
      x.k = last ? k - p : std::int32_t(kSumBlock);
      x.a = args.a + (kAcross ? p * lda : p);
      x.b = args.b + (kKind == ProductKind::nt ? col * ldb + p : p * ldb + col);
      x.c = args.c + col;
      x.bias = last && args.bias != nullptr ? args.bias + col : nullptr;
      x.finish = p > 0 || args.update == Update::accumulate ? ArmFinish::accumulate : ArmFinish::overwrite;
      tiles(x, std::int32_t(rows));
      p += std::int32_t(kSumBlock);
    } while (p < k);
  }

  /// All rows of a panel.
  static void tiles(ArmPanel& x, std::int32_t rows) {
    x.pairs = rows / kRows;
    if (rows % kRows != 0) single_row(x, rows - 1);
    if (x.pairs > 0) ArmTiles<kKind>::run(&x);
  }

 private:
  /// A row that has no other: it is its own neighbour, whose sums go nowhere.
  [[gnu::noinline]] static void single_row(ArmPanel x, std::int32_t row) {
    float nowhere[kCols] = {};
    x.a += row * (x.lda / std::int32_t(sizeof(float)));
    x.c += row * (x.ldc / std::int32_t(sizeof(float)));
    x.lda = 0;
    x.ldc = std::int32_t(reinterpret_cast<std::intptr_t>(nowhere) - reinterpret_cast<std::intptr_t>(x.c));
    x.pairs = 1;
    ArmTiles<kKind>::run(&x);
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
