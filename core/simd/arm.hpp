#pragma once
/// Loops on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55): e^x of eight numbers
/// at a time, scalar products, sums. They do the operations of core/simd in their order.
///
/// The gain over GCC's code: vldm loads several numbers by one instruction (in as many cycles, and one, on a Cortex-M4).
/// A multiply-add overwrites its summand, so Horner's rule wants a fresh copy of each coefficient for every number: one
/// vldm brings eight.

#include <cstddef>

#include "core/simd/coefficients.hpp"
#include "core/simd/plain.hpp"

#if defined(__thumb2__) && defined(__FP_FAST_FMAF) && defined(__ARM_PCS_VFP)
#define THIMBLE_ARM_FPU 1
#else
#define THIMBLE_ARM_FPU 0
#endif

namespace thimble::detail {

/// Are the kernels of Arm's FPU used for S (a Simd) or a Vec?
template <class S>
inline constexpr bool kHasArmFpu = false;

#if THIMBLE_ARM_FPU
template <>
inline constexpr bool kHasArmFpu<Vec<float, Plain<Profile::fused>>> = true;

/// What e^x takes, in the order of its use: factors, then eight copies of each summand.
struct ArmExpTable {
  using C = Coefficients<float>;
  float magic = FloatLayout<float>::round_magic, bound_square = kExpNormal<float> * kExpNormal<float>;
  float inverse_ln2 = 1.44269504088896340736f, ln2_high = C::ln2_high, ln2_low = C::ln2_low, leading = C::exp[4];
  float summands[7][8] = {};

  constexpr ArmExpTable() {
    static_assert(sizeof(C::exp) == 5 * sizeof(float));
    const float once[7] = {magic, C::exp[3], C::exp[2], C::exp[1], C::exp[0], 1, 1};
    for (int i = 0; i < 7; ++i) {
      for (float& copy : summands[i]) copy = once[i];
    }
  }
};
inline constexpr ArmExpTable kArmExpTable;

#define THIMBLE_ARM_ALL "s0", THIMBLE_ARM_BUT_S0
#define THIMBLE_ARM_BUT_S0                                                                              \
  "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", \
      "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

// The registers by eights, and one operation of each of eight: with its counterpart, or with one and the same.
#define THIMBLE_ARM_A "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"
#define THIMBLE_ARM_B "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15"
#define THIMBLE_ARM_C "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23"
#define THIMBLE_ARM_D "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"
#define THIMBLE_ARM_EACH(op, to, x, y) THIMBLE_ARM_EIGHT(op, THIMBLE_ARM_##to, THIMBLE_ARM_##x, THIMBLE_ARM_##y)
#define THIMBLE_ARM_EACH_BY(op, to, x, by) \
  THIMBLE_ARM_EIGHT(op, THIMBLE_ARM_##to, THIMBLE_ARM_##x, by, by, by, by, by, by, by, by)
#define THIMBLE_ARM_EIGHT(...) THIMBLE_ARM_EIGHT_OF(__VA_ARGS__)
#define THIMBLE_ARM_EIGHT_OF(op, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, c0, c1, c2, c3, c4, c5, \
                             c6, c7)                                                                              \
  op " " a0 ", " b0 ", " c0 "\n " op " " a1 ", " b1 ", " c1 "\n " op " " a2 ", " b2 ", " c2 "\n "               \
  op " " a3 ", " b3 ", " c3 "\n " op " " a4 ", " b4 ", " c4 "\n " op " " a5 ", " b5 ", " c5 "\n "               \
  op " " a6 ", " b6 ", " c6 "\n " op " " a7 ", " b7 ", " c7 "\n"

// The sums of sixteen lanes and of the first eight, to s0.
#define THIMBLE_ARM_FOLD THIMBLE_ARM_EACH("vadd.f32", A, A, B) THIMBLE_ARM_FOLD_EIGHT
#define THIMBLE_ARM_FOLD_EIGHT                                                                                 \
  "vadd.f32 s0, s0, s4\n vadd.f32 s1, s1, s5\n vadd.f32 s2, s2, s6\n vadd.f32 s3, s3, s7\n"                    \
  "vadd.f32 s0, s0, s2\n vadd.f32 s1, s1, s3\n vadd.f32 s0, s0, s1\n"

// s24 to s29: the factors of the ArmExpTable at r12, which goes on to its summands.
#define THIMBLE_ARM_EXP_FACTORS "vldmia r12!, {s24-s29}\n"
// Branches to 9 unless s0 to s7 are all within the root of s25; changes s8.
#define THIMBLE_ARM_ARE_WITHIN                                                                             \
  "vmul.f32 s8, s0, s0\n vfma.f32 s8, s1, s1\n vfma.f32 s8, s2, s2\n vfma.f32 s8, s3, s3\n"              \
  "vfma.f32 s8, s4, s4\n vfma.f32 s8, s5, s5\n vfma.f32 s8, s6, s6\n vfma.f32 s8, s7, s7\n"              \
  "vcmp.f32 s8, s25\n vmrs APSR_nzcv, fpscr\n bpl 9f\n"
// e^x of s0 to s7, |x| < kExpNormal, in place. Changes s8 to s23, r4 to r12 and lr.
#define THIMBLE_ARM_EXP                                                                                    \
  /* t = x / ln 2 + magic: its lowest bits are the integer n = t - magic */                                \
  "vldmia r12!, {s8-s15}\n" THIMBLE_ARM_EACH_BY("vfma.f32", B, A, "s26")                                   \
  "vmov r4, r5, s8, s9\n vmov r6, r7, s10, s11\n vmov r8, r9, s12, s13\n vmov r10, r11, s14, s15\n"      \
  /* r = x - n ln 2, in two parts */                                                                       \
  THIMBLE_ARM_EACH_BY("vsub.f32", B, B, "s24") THIMBLE_ARM_EACH_BY("vfms.f32", A, B, "s27")                \
  THIMBLE_ARM_EACH_BY("vfms.f32", A, B, "s28")                                                             \
  /* m = 1 + r (1 + r (c0 + r (c1 ...))) */                                                                \
  "vldmia r12!, {s8-s15}\n" THIMBLE_ARM_EACH_BY("vfma.f32", B, A, "s29")                                   \
  THIMBLE_ARM_HORNER("s16-s23", C, B) THIMBLE_ARM_HORNER("s8-s15", B, C) THIMBLE_ARM_HORNER("s16-s23", C, B) \
  THIMBLE_ARM_HORNER("s8-s15", B, C) THIMBLE_ARM_HORNER("s16-s23", C, B)                                   \
  /* m 2^n: n is added to the exponent */                                                                  \
  THIMBLE_ARM_TO_POWER("r4", "r5", "s16, s17", "s0, s1") THIMBLE_ARM_TO_POWER("r6", "r7", "s18, s19", "s2, s3") \
  THIMBLE_ARM_TO_POWER("r8", "r9", "s20, s21", "s4, s5") THIMBLE_ARM_TO_POWER("r10", "r11", "s22, s23", "s6, s7")
#define THIMBLE_ARM_HORNER(registers, to, from) \
  "vldmia r12!, {" registers "}\n" THIMBLE_ARM_EACH("vfma.f32", to, from, A)
#define THIMBLE_ARM_TO_POWER(n0, n1, from, to) \
  "vmov r12, lr, " from "\n add r12, r12, " n0 ", lsl #23\n add lr, lr, " n1 ", lsl #23\n vmov " to ", r12, lr\n"

/// x = e^(x - shift[i]) factor[i] for `count` > 0 rows of eight numbers i, `step` bytes apart; factor may be null. Stops
/// before a row of which a number is not within kExpNormal of its shift; returns how many rows are left.
[[gnu::naked, gnu::noinline]] inline std::int32_t arm_exp_rows(float* /*x*/, std::ptrdiff_t /*step*/,
                                                               std::int32_t /*count*/, const float* /*shift*/,
                                                               const float* /*factor*/,
                                                               const ArmExpTable* /*table*/ = &kArmExpTable) {
  asm("push {r4-r11, lr}\n vpush {s16-s31}\n ldr r12, [sp, #104]\n" THIMBLE_ARM_EXP_FACTORS "str r12, [sp, #104]\n"
      "0: vldmia r0, {s0-s7}\n vldmia r3, {s8-s15}\n" THIMBLE_ARM_EACH("vsub.f32", A, A, B)
      THIMBLE_ARM_ARE_WITHIN "ldr r12, [sp, #104]\n" THIMBLE_ARM_EXP
      "ldr r4, [sp, #100]\n cbz r4, 1f\n vldmia r4, {s8-s15}\n" THIMBLE_ARM_EACH("vmul.f32", A, A, B)
      "1: vstmia r0, {s0-s7}\n add r0, r1\n subs r2, #1\n bne 0b\n"
      "9: mov r0, r2\n vpop {s16-s31}\n pop {r4-r11, pc}\n");
}

inline constexpr float kArmZeros[16] = {};

/// row_dot of `eights` > 0 times eight numbers.
[[gnu::noinline]] inline float arm_row_dot(const float* x, const float* y, std::ptrdiff_t eights) {
  register float sum asm("s0");
  const float* zeros = kArmZeros;
  asm volatile(
      "vldmia %[zeros], {s0-s15}\n lsrs %[zeros], %[count], #1\n beq 2f\n"
      "1: vldmia %[x]!, {s16-s23}\n vldmia %[y]!, {s24-s31}\n" THIMBLE_ARM_EACH("vfma.f32", A, C, D)
      "vldmia %[x]!, {s16-s23}\n vldmia %[y]!, {s24-s31}\n"
      THIMBLE_ARM_EACH("vfma.f32", B, C, D)
      "subs %[zeros], #1\n bne 1b\n"
      "2: tst %[count], #1\n beq 3f\n vldmia %[x], {s16-s23}\n vldmia %[y], {s24-s31}\n" THIMBLE_ARM_EACH("vfma.f32", A, C, D)
      "3:\n" THIMBLE_ARM_FOLD
      : [x] "+r"(x), [y] "+r"(y), [zeros] "+r"(zeros), "=t"(sum)
      : [count] "r"(eights)
      : THIMBLE_ARM_BUT_S0, "cc", "memory");
  return sum;
}

/// row_dot of 8 numbers: lanes begin with their products, and +0 is added at the end.
[[gnu::noinline]] inline float arm_row_dot_of_eight(const float* x, const float* y) {
  register float sum asm("s0");
  asm volatile("vldmia %[x], {s0-s7}\n vldmia %[y], {s8-s15}\n "
               THIMBLE_ARM_EACH("vmul.f32", A, A, B) THIMBLE_ARM_FOLD_EIGHT "vldr s8, [%[zero]]\n vadd.f32 s0, s0, s8\n"
               : "=t"(sum)
               : [x] "r"(x), [y] "r"(y), [zero] "r"(kArmZeros)
               : "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc", "memory");
  return sum;
}

/// row_sum of `sixteens` > 0 times sixteen numbers.
[[gnu::noinline]] inline float arm_row_sum(const float* x, std::ptrdiff_t sixteens) {
  register float sum asm("s0");
  asm volatile(
      "vldmia %[zeros], {s0-s15}\n"
      "1: vldmia %[x]!, {s16-s31}\n"
      THIMBLE_ARM_EACH("vadd.f32", A, A, C)
      THIMBLE_ARM_EACH("vadd.f32", B, B, D)
      "subs %[count], #1\n bne 1b\n" THIMBLE_ARM_FOLD
      : [x] "+r"(x), [count] "+r"(sixteens), "=t"(sum)
      : [zeros] "r"(kArmZeros)
      : THIMBLE_ARM_BUT_S0, "cc", "memory");
  return sum;
}

/// x = x factor, `eights` > 0 times eight numbers.
THIMBLE_INLINE void arm_scale(float* x, std::ptrdiff_t eights, float factor) {
  asm volatile(
      "vmov s8, %[factor]\n 0: vldmia %[x], {s0-s7}\n" THIMBLE_ARM_EACH_BY("vmul.f32", A, A, "s8")
      "vstmia %[x]!, {s0-s7}\n subs %[count], #1\n bne 0b\n"
      : [x] "+r"(x), [count] "+r"(eights)
      : [factor] "r"(factor)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "cc", "memory");
}

/// The bits of the largest of `eights` > 0 times eight integers, or `top`.
[[gnu::naked, gnu::noinline]] inline std::int32_t arm_largest(const float* /*x*/, std::ptrdiff_t /*eights*/,
                                                              std::int32_t /*top*/) {
#define THIMBLE_ARM_LARGER(x) "cmp r2, " x "\n it lt\n movlt r2, " x "\n"
  asm("push {r4-r9}\n"
      "0: ldmia r0!, {r3, r4, r5, r6, r7, r8, r9, r12}\n"
      "cmp r2, r3\n ittt ge\n cmpge r2, r4\n cmpge r2, r5\n cmpge r2, r6\n"
      "itttt ge\n cmpge r2, r7\n cmpge r2, r8\n cmpge r2, r9\n cmpge r2, r12\n bge 1f\n"
      THIMBLE_ARM_LARGER("r3") THIMBLE_ARM_LARGER("r4") THIMBLE_ARM_LARGER("r5") THIMBLE_ARM_LARGER("r6")
      THIMBLE_ARM_LARGER("r7") THIMBLE_ARM_LARGER("r8") THIMBLE_ARM_LARGER("r9") THIMBLE_ARM_LARGER("r12")
      "1: subs r1, #1\n bne 0b\n mov r0, r2\n pop {r4-r9}\n bx lr\n");
#undef THIMBLE_ARM_LARGER
}

/// x[r, i] = others[i] for i < r, over `rows` rows r, 1 to 8; distance in bytes.
[[gnu::noinline]] inline void arm_fill_below(float* x, std::ptrdiff_t step, std::ptrdiff_t rows, const float* others) {
#define THIMBLE_ARM_NEXT(registers) "subs %[rows], #1\n beq 9f\n add %[x], %[step]\n vstmia %[x], {" registers "}\n"
  asm volatile("vldmia %[others], {s0-s6}\n" THIMBLE_ARM_NEXT("s0") THIMBLE_ARM_NEXT("s0-s1") THIMBLE_ARM_NEXT("s0-s2")
               THIMBLE_ARM_NEXT("s0-s3") THIMBLE_ARM_NEXT("s0-s4") THIMBLE_ARM_NEXT("s0-s5") THIMBLE_ARM_NEXT("s0-s6")
               "9:\n"
               : [x] "+r"(x), [rows] "+r"(rows)
               : [step] "r"(step), [others] "r"(others)
               : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "cc", "memory");
#undef THIMBLE_ARM_NEXT
}

/// top[i] = the larger one of top[i] and x[r, i], over rows r of 8 numbers, at least one; distance in bytes.
[[gnu::noinline]] inline void arm_column_maxima(float* top, const float* x, std::ptrdiff_t step, std::ptrdiff_t rows) {
#define THIMBLE_ARM_LARGER(top, x) "vcmp.f32 " x ", " top "\n vmrs APSR_nzcv, fpscr\n it gt\n vmovgt.f32 " top ", " x "\n"
  asm volatile(
      "vldmia %[top], {s8-s15}\n 0: vldmia %[x], {s0-s7}\n add %[x], %[step]\n"
      THIMBLE_ARM_LARGER("s8", "s0") THIMBLE_ARM_LARGER("s9", "s1") THIMBLE_ARM_LARGER("s10", "s2")
      THIMBLE_ARM_LARGER("s11", "s3") THIMBLE_ARM_LARGER("s12", "s4") THIMBLE_ARM_LARGER("s13", "s5")
      THIMBLE_ARM_LARGER("s14", "s6") THIMBLE_ARM_LARGER("s15", "s7")
      "subs %[rows], #1\n bne 0b\n vstmia %[top], {s8-s15}\n"
      : [x] "+r"(x), [rows] "+r"(rows)
      : [top] "r"(top), [step] "r"(step)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
        "memory");
#undef THIMBLE_ARM_LARGER
}

/// sum[r] = a[r] + b[r] for rows r of 8 numbers, at least one; distances between rows in bytes.
[[gnu::noinline]] inline void arm_add_rows(float* sum, std::ptrdiff_t sum_step, const float* a, std::ptrdiff_t a_step,
                                           const float* b, std::ptrdiff_t b_step, std::ptrdiff_t rows) {
  asm volatile(
      "0: vldmia %[a], {s0-s7}\n add %[a], %[a_step]\n vldmia %[b], {s8-s15}\n add %[b], %[b_step]\n"
      THIMBLE_ARM_EACH("vadd.f32", A, A, B)
      "vstmia %[sum], {s0-s7}\n add %[sum], %[sum_step]\n subs %[rows], #1\n bne 0b\n"
      : [sum] "+r"(sum), [a] "+r"(a), [b] "+r"(b), [rows] "+r"(rows)
      : [sum_step] "r"(sum_step), [a_step] "r"(a_step), [b_step] "r"(b_step)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
        "memory");
}

/// to[r] = from[r] for rows r of 8 numbers that are `step` bytes apart there.
[[gnu::noinline]] inline void arm_copy_rows(const float* from, std::ptrdiff_t step, std::ptrdiff_t rows, float* to) {
  for (std::ptrdiff_t four = rows / 4; four > 0; --four) {
    asm volatile(
        "vldmia %[from], {s0-s7}\n add %[from], %[step]\n vldmia %[from], {s8-s15}\n add %[from], %[step]\n"
        "vldmia %[from], {s16-s23}\n add %[from], %[step]\n vldmia %[from], {s24-s31}\n add %[from], %[step]\n"
        "vstmia %[to]!, {s0-s31}\n"
        : [from] "+r"(from), [to] "+r"(to)
        : [step] "r"(step)
        : THIMBLE_ARM_ALL, "memory");
  }
  for (rows &= 3; rows > 0; --rows) {
    asm volatile("vldmia %[from], {s0-s7}\n add %[from], %[step]\n vstmia %[to]!, {s0-s7}\n"
                 : [from] "+r"(from), [to] "+r"(to)
                 : [step] "r"(step)
                 : THIMBLE_ARM_ALL, "memory");
  }
}

/// to[c, r] = from[r, c] for 8 rows r, `step` bytes apart, and 4 fours columns c.
[[gnu::naked, gnu::noinline]] inline void arm_transpose(const float* /*from*/, std::ptrdiff_t /*step*/,
                                                        std::ptrdiff_t /*fours*/, float* /*to*/) {
#define THIMBLE_ARM_ROW(at, a, b, c, d)                                                                        \
  "vldr s" a ", [" at "]\n vldr s" b ", [" at ", #4]\n vldr s" c ", [" at ", #8]\n vldr s" d ", [" at ", #12]\n add " at \
  ", #16\n"
  asm("push {r4-r10}\n vpush {s16-s31}\n add r4, r0, r1\n add r5, r4, r1\n add r6, r5, r1\n"
      "add r7, r6, r1\n add r8, r7, r1\n add r9, r8, r1\n add r10, r9, r1\n"
      "0:" THIMBLE_ARM_ROW("r0", "0", "8", "16", "24") THIMBLE_ARM_ROW("r4", "1", "9", "17", "25")
      THIMBLE_ARM_ROW("r5", "2", "10", "18", "26") THIMBLE_ARM_ROW("r6", "3", "11", "19", "27")
      THIMBLE_ARM_ROW("r7", "4", "12", "20", "28") THIMBLE_ARM_ROW("r8", "5", "13", "21", "29")
      THIMBLE_ARM_ROW("r9", "6", "14", "22", "30") THIMBLE_ARM_ROW("r10", "7", "15", "23", "31")
      "vstmia r3!, {s0-s31}\n subs r2, #1\n bne 0b\n vpop {s16-s31}\n pop {r4-r10}\n bx lr\n");
#undef THIMBLE_ARM_ROW
}

/// sum[i] = x[0, i] + x[1, i] ... from +0, for 8 columns of at least one row; rows are `ld` numbers apart.
[[gnu::noinline]] inline void arm_sum_rows(const float* x, std::ptrdiff_t ld, std::ptrdiff_t rows, float* sum) {
  std::ptrdiff_t pairs = rows / 2;
  asm volatile(
      "vldmia %[zeros], {s0-s7}\n cmp %[pairs], #0\n beq 1f\n"
      "0: vldmia %[x], {s8-s15}\n add %[x], %[step]\n vldmia %[x], {s16-s23}\n add %[x], %[step]\n"
      THIMBLE_ARM_EACH("vadd.f32", A, A, B) THIMBLE_ARM_EACH("vadd.f32", A, A, C)
      "subs %[pairs], #1\n bne 0b\n"
      "1: tst %[rows], #1\n beq 2f\n vldmia %[x], {s8-s15}\n" THIMBLE_ARM_EACH("vadd.f32", A, A, B)
      "2: vstmia %[sum], {s0-s7}\n"
      : [x] "+r"(x), [pairs] "+r"(pairs)
      : [step] "r"(ld * std::ptrdiff_t(sizeof(float))), [rows] "r"(rows), [sum] "r"(sum), [zeros] "r"(kArmZeros)
      : THIMBLE_ARM_ALL, "cc", "memory");
}
#endif

}  // namespace thimble::detail
