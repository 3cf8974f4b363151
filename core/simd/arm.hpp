#pragma once
/// Loops on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55): e^x of four numbers
/// at a time, scalar products, sums. They do the operations of core/simd in their order.
///
/// The gain over GCC's code: vldm loads several numbers by one instruction (in as many cycles, and one, on a Cortex-M4).
/// A multiply-add overwrites its summand, so Horner's rule wants a fresh copy of each coefficient for every number: one
/// vldm brings four.

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

/// What e^x takes, in the order of its use: factors, then four copies of each summand.
struct ArmExpTable {
  using C = Coefficients<float>;
  float inverse_ln2 = 1.44269504088896340736f, ln2_high = C::ln2_high, ln2_low = C::ln2_low, leading = C::exp[4];
  float summands[7][4] = {};

  constexpr ArmExpTable() {
    static_assert(sizeof(C::exp) == 5 * sizeof(float));
    const float once[7] = {FloatLayout<float>::round_magic, C::exp[3], C::exp[2], C::exp[1], C::exp[0], 1, 1};
    for (int i = 0; i < 7; ++i) {
      for (float& copy : summands[i]) copy = once[i];
    }
  }
};
inline constexpr ArmExpTable kArmExpTable;

// e^x of s0 to s3, |x| < kExpNormal, in place; s16 to s19 hold the table's factors, s24 its magic, and %[t] is at its
// summands. Changes s4 to s15 and the registers %[a] to %[d].
#define THIMBLE_ARM_EXP_STEP(to, x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3)                       \
  "vldmia %[t]!, {" to "}\n"                                                                           \
  "vfma.f32 " z0 ", " y0 ", " x0 "\n vfma.f32 " z1 ", " y1 ", " x1 "\n"                                \
  "vfma.f32 " z2 ", " y2 ", " x2 "\n vfma.f32 " z3 ", " y3 ", " x3 "\n"
#define THIMBLE_ARM_EXP_ODD                                                                             \
  THIMBLE_ARM_EXP_STEP("s12-s15", "s0", "s1", "s2", "s3", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15")
#define THIMBLE_ARM_EXP_EVEN                                                                            \
  THIMBLE_ARM_EXP_STEP("s8-s11", "s0", "s1", "s2", "s3", "s12", "s13", "s14", "s15", "s8", "s9", "s10", "s11")
#define THIMBLE_ARM_EXP                                                                                 \
  /* t = x / ln 2 + magic: its lowest bits are the integer n = t - magic */                             \
  THIMBLE_ARM_EXP_STEP("s4-s7", "s16", "s16", "s16", "s16", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7") \
  "vsub.f32 s12, s4, s24\n vsub.f32 s13, s5, s24\n vsub.f32 s14, s6, s24\n vsub.f32 s15, s7, s24\n"    \
  /* r = x - n ln 2, in two parts */                                                                    \
  "vfms.f32 s0, s12, s17\n vfms.f32 s1, s13, s17\n vfms.f32 s2, s14, s17\n vfms.f32 s3, s15, s17\n"    \
  "vfms.f32 s0, s12, s18\n vfms.f32 s1, s13, s18\n vfms.f32 s2, s14, s18\n vfms.f32 s3, s15, s18\n"    \
  /* m = 1 + r (1 + r (c0 + r (c1 ...))) */                                                             \
  THIMBLE_ARM_EXP_STEP("s8-s11", "s0", "s1", "s2", "s3", "s19", "s19", "s19", "s19", "s8", "s9", "s10", "s11") \
  THIMBLE_ARM_EXP_ODD THIMBLE_ARM_EXP_EVEN THIMBLE_ARM_EXP_ODD THIMBLE_ARM_EXP_EVEN THIMBLE_ARM_EXP_ODD \
  /* m 2^n: n is added to the exponent */                                                               \
  "vmov %[a], %[b], s4, s5\n vmov %[c], %[d], s12, s13\n"                                              \
  "add %[a], %[c], %[a], lsl #23\n add %[b], %[d], %[b], lsl #23\n vmov s0, s1, %[a], %[b]\n"          \
  "vmov %[a], %[b], s6, s7\n vmov %[c], %[d], s14, s15\n"                                              \
  "add %[a], %[c], %[a], lsl #23\n add %[b], %[d], %[b], lsl #23\n vmov s2, s3, %[a], %[b]\n"
// Branches to 9 unless s0 to s3 are all within the root of s25; changes s4.
#define THIMBLE_ARM_ARE_WITHIN                                                                          \
  "vmul.f32 s4, s0, s0\n vfma.f32 s4, s1, s1\n vfma.f32 s4, s2, s2\n vfma.f32 s4, s3, s3\n"            \
  "vcmp.f32 s4, s25\n vmrs APSR_nzcv, fpscr\n bpl 9f\n"
#define THIMBLE_ARM_ALL "s0", THIMBLE_ARM_BUT_S0
#define THIMBLE_ARM_BUT_S0                                                                              \
  "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", \
      "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

// One operation of eight triples of registers; of s0 to s7, s8 to s15 and s16 to s23 in place, with one other number.
#define THIMBLE_ARM_EACH8(op, a0, b0, c0, a1, b1, c1, a2, b2, c2, a3, b3, c3, a4, b4, c4, a5, b5, c5, a6, b6, c6, a7, \
                          b7, c7)                                                                               \
  op " " a0 ", " b0 ", " c0 "\n " op " " a1 ", " b1 ", " c1 "\n " op " " a2 ", " b2 ", " c2 "\n "               \
  op " " a3 ", " b3 ", " c3 "\n " op " " a4 ", " b4 ", " c4 "\n " op " " a5 ", " b5 ", " c5 "\n "               \
  op " " a6 ", " b6 ", " c6 "\n " op " " a7 ", " b7 ", " c7 "\n"
#define THIMBLE_ARM_LOW_BY(op, by)                                                                      \
  THIMBLE_ARM_EACH8(op, "s0", "s0", by, "s1", "s1", by, "s2", "s2", by, "s3", "s3", by, "s4", "s4", by, "s5", "s5", \
                    by, "s6", "s6", by, "s7", "s7", by)
#define THIMBLE_ARM_HIGH_BY(op, by)                                                                           \
  THIMBLE_ARM_EACH8(op, "s8", "s8", by, "s9", "s9", by, "s10", "s10", by, "s11", "s11", by, "s12", "s12", by, "s13", \
                    "s13", by, "s14", "s14", by, "s15", "s15", by)
#define THIMBLE_ARM_THIRD_BY(op, by)                                                                                 \
  THIMBLE_ARM_EACH8(op, "s16", "s16", by, "s17", "s17", by, "s18", "s18", by, "s19", "s19", by, "s20", "s20", by,    \
                    "s21", "s21", by, "s22", "s22", by, "s23", "s23", by)

// s0 to s7 get the products of s16 to s23 and s24 to s31.
#define THIMBLE_ARM_PRODUCTS_LOW                                                                                   \
  THIMBLE_ARM_EACH8("vfma.f32", "s0", "s16", "s24", "s1", "s17", "s25", "s2", "s18", "s26", "s3", "s19", "s27", "s4", \
                    "s20", "s28", "s5", "s21", "s29", "s6", "s22", "s30", "s7", "s23", "s31")
// The sum of sixteen lanes, to s0.
#define THIMBLE_ARM_FOLD                                                                                        \
  THIMBLE_ARM_EACH8("vadd.f32", "s0", "s0", "s8", "s1", "s1", "s9", "s2", "s2", "s10", "s3", "s3", "s11", "s4", "s4", \
                    "s12", "s5", "s5", "s13", "s6", "s6", "s14", "s7", "s7", "s15")                              \
  "vadd.f32 s0, s0, s4\n vadd.f32 s1, s1, s5\n vadd.f32 s2, s2, s6\n vadd.f32 s3, s3, s7\n"                    \
  "vadd.f32 s0, s0, s2\n vadd.f32 s1, s1, s3\n vadd.f32 s0, s0, s1\n"

using ArmVec = Vec<float, Plain<Profile::fused>>;

/// e^x for |x| < kExpNormal.
THIMBLE_INLINE ArmVec arm_exp(ArmVec x) {
  register float x0 asm("s0") = x.lane[0];
  register float x1 asm("s1") = x.lane[1];
  register float x2 asm("s2") = x.lane[2];
  register float x3 asm("s3") = x.lane[3];
  const ArmExpTable* t = &kArmExpTable;
  std::uint32_t a, b, c, d;
  asm("vldmia %[t]!, {s16-s19}\n vldr s24, [%[t]]\n" THIMBLE_ARM_EXP
      : "+t"(x0), "+t"(x1), "+t"(x2), "+t"(x3), [t] "+r"(t), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
      : "m"(kArmExpTable)
      : "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s24");
  return {{x0, x1, x2, x3}};
}

/// What e^x takes of the numbers at x.
struct ArmExpShift {
  float shift[4];
  float factor[4];
  float bound_square;
};

/// x = e^(x - shift) factor, for `count` > 0 times four numbers, `step` numbers apart. Stops before four of which one is
/// not within kExpNormal of its shift; returns how many fours are left.
[[gnu::noinline]] inline std::int32_t arm_exp_rows(float* x, std::ptrdiff_t step, std::int32_t count,
                                                   const ArmExpShift& shift) {
  std::uint32_t a, b, c, d;
  const ArmExpTable* t;
  asm volatile(
      "vldmia %[shift], {s20-s23}\n add %[t], %[shift], #16\n vldmia %[t], {s26-s29}\n vldr s25, [%[shift], #32]\n"
      "mov %[t], %[table]\n vldmia %[t]!, {s16-s19}\n vldr s24, [%[t]]\n"
      "0: vldmia %[x], {s0-s3}\n add %[t], %[table], #16\n"
      "vsub.f32 s0, s0, s20\n vsub.f32 s1, s1, s21\n vsub.f32 s2, s2, s22\n vsub.f32 s3, s3, s23\n"
      THIMBLE_ARM_ARE_WITHIN THIMBLE_ARM_EXP
      "vmul.f32 s0, s0, s26\n vmul.f32 s1, s1, s27\n vmul.f32 s2, s2, s28\n vmul.f32 s3, s3, s29\n"
      "vstmia %[x], {s0-s3}\n add %[x], %[step]\n subs %[count], #1\n bne 0b\n"
      "9:\n"
      : [x] "+r"(x), [count] "+r"(count), [t] "=&r"(t), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
      : [step] "r"(step * std::ptrdiff_t(sizeof(float))), [shift] "r"(&shift), [table] "r"(&kArmExpTable)
      : THIMBLE_ARM_ALL, "cc", "memory");
  return count;
}

inline constexpr float kArmZeros[16] = {};

/// row_dot of `eights` > 0 times eight numbers.
[[gnu::noinline]] inline float arm_row_dot(const float* x, const float* y, std::ptrdiff_t eights) {
  register float sum asm("s0");
  const float* zeros = kArmZeros;
  asm volatile(
      "vldmia %[zeros], {s0-s15}\n lsrs %[zeros], %[count], #1\n beq 2f\n"
      "1: vldmia %[x]!, {s16-s23}\n vldmia %[y]!, {s24-s31}\n" THIMBLE_ARM_PRODUCTS_LOW
      "vldmia %[x]!, {s16-s23}\n vldmia %[y]!, {s24-s31}\n"
      THIMBLE_ARM_EACH8("vfma.f32", "s8", "s16", "s24", "s9", "s17", "s25", "s10", "s18", "s26", "s11", "s19", "s27",
                        "s12", "s20", "s28", "s13", "s21", "s29", "s14", "s22", "s30", "s15", "s23", "s31")
      "subs %[zeros], #1\n bne 1b\n"
      "2: tst %[count], #1\n beq 3f\n vldmia %[x], {s16-s23}\n vldmia %[y], {s24-s31}\n" THIMBLE_ARM_PRODUCTS_LOW
      "3:\n" THIMBLE_ARM_FOLD
      : [x] "+r"(x), [y] "+r"(y), [zeros] "+r"(zeros), "=t"(sum)
      : [count] "r"(eights)
      : THIMBLE_ARM_BUT_S0, "cc", "memory");
  return sum;
}

/// row_sum of `sixteens` > 0 times sixteen numbers.
[[gnu::noinline]] inline float arm_row_sum(const float* x, std::ptrdiff_t sixteens) {
  register float sum asm("s0");
  asm volatile(
      "vldmia %[zeros], {s0-s15}\n"
      "1: vldmia %[x]!, {s16-s31}\n"
      THIMBLE_ARM_EACH8("vadd.f32", "s0", "s0", "s16", "s1", "s1", "s17", "s2", "s2", "s18", "s3", "s3", "s19",
                        "s4", "s4", "s20", "s5", "s5", "s21", "s6", "s6", "s22", "s7", "s7", "s23")
      THIMBLE_ARM_EACH8("vadd.f32", "s8", "s8", "s24", "s9", "s9", "s25", "s10", "s10", "s26", "s11", "s11", "s27",
                        "s12", "s12", "s28", "s13", "s13", "s29", "s14", "s14", "s30", "s15", "s15", "s31")
      "subs %[count], #1\n bne 1b\n" THIMBLE_ARM_FOLD
      : [x] "+r"(x), [count] "+r"(sixteens), "=t"(sum)
      : [zeros] "r"(kArmZeros)
      : THIMBLE_ARM_BUT_S0, "cc", "memory");
  return sum;
}

/// x = x factor, `eights` > 0 times eight numbers.
THIMBLE_INLINE void arm_scale(float* x, std::ptrdiff_t eights, float factor) {
  asm volatile(
      "vmov s8, %[factor]\n 0: vldmia %[x], {s0-s7}\n" THIMBLE_ARM_LOW_BY("vmul.f32", "s8")
      "vstmia %[x]!, {s0-s7}\n subs %[count], #1\n bne 0b\n"
      : [x] "+r"(x), [count] "+r"(eights)
      : [factor] "r"(factor)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "cc", "memory");
}

/// The bits of the largest of `fours` > 0 times four integers, or `top`.
THIMBLE_INLINE std::int32_t arm_largest(const float* x, std::ptrdiff_t fours, std::int32_t top) {
  asm volatile(
      "0: ldmia %[x]!, {r4, r5, r6, r8}\n cmp %[top], r4\n ittt ge\n cmpge %[top], r5\n cmpge %[top], r6\n"
      "cmpge %[top], r8\n bge 1f\n cmp %[top], r4\n it lt\n movlt %[top], r4\n cmp %[top], r5\n it lt\n"
      "movlt %[top], r5\n cmp %[top], r6\n it lt\n movlt %[top], r6\n cmp %[top], r8\n it lt\n movlt %[top], r8\n"
      "1: subs %[count], #1\n bne 0b\n"
      : [x] "+r"(x), [count] "+r"(fours), [top] "+r"(top)
      :
      : "r4", "r5", "r6", "r8", "cc", "memory");
  return top;
}

/// sum[r] = a[r] + b[r] for rows r of 8 numbers, at least one; distances between rows in bytes.
[[gnu::noinline]] inline void arm_add_rows(float* sum, std::ptrdiff_t sum_step, const float* a, std::ptrdiff_t a_step,
                                           const float* b, std::ptrdiff_t b_step, std::ptrdiff_t rows) {
  asm volatile(
      "0: vldmia %[a], {s0-s7}\n add %[a], %[a_step]\n vldmia %[b], {s8-s15}\n add %[b], %[b_step]\n"
      THIMBLE_ARM_EACH8("vadd.f32", "s0", "s0", "s8", "s1", "s1", "s9", "s2", "s2", "s10", "s3", "s3", "s11",
                        "s4", "s4", "s12", "s5", "s5", "s13", "s6", "s6", "s14", "s7", "s7", "s15")
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

/// to[c, r] = from[r, c] for 8 rows r and 4 fours columns c; distances between rows in bytes.
[[gnu::naked, gnu::noinline]] inline void arm_transpose(const float* /*from*/, std::ptrdiff_t /*step*/,
                                                        std::ptrdiff_t /*fours*/, float* /*to*/,
                                                        std::ptrdiff_t /*pitch*/) {
#define THIMBLE_ARM_COLUMN(a, b, c, d, e, f, g, h)                                                        \
  "vstr s" a ", [r3]\n vstr s" b ", [r3, #4]\n vstr s" c ", [r3, #8]\n vstr s" d ", [r3, #12]\n vstr s" e \
  ", [r3, #16]\n vstr s" f ", [r3, #20]\n vstr s" g ", [r3, #24]\n vstr s" h ", [r3, #28]\n add r3, r12\n"
  asm("ldr r12, [sp]\n push {r4-r11}\n vpush {s16-s31}\n add r4, r0, r1\n add r5, r4, r1\n add r6, r5, r1\n"
      "add r7, r6, r1\n add r8, r7, r1\n add r9, r8, r1\n add r10, r9, r1\n"
      "0: vldmia r0!, {s0-s3}\n vldmia r4!, {s4-s7}\n vldmia r5!, {s8-s11}\n vldmia r6!, {s12-s15}\n"
      "vldmia r7!, {s16-s19}\n vldmia r8!, {s20-s23}\n vldmia r9!, {s24-s27}\n vldmia r10!, {s28-s31}\n"
      THIMBLE_ARM_COLUMN("0", "4", "8", "12", "16", "20", "24", "28")
      THIMBLE_ARM_COLUMN("1", "5", "9", "13", "17", "21", "25", "29")
      THIMBLE_ARM_COLUMN("2", "6", "10", "14", "18", "22", "26", "30")
      THIMBLE_ARM_COLUMN("3", "7", "11", "15", "19", "23", "27", "31")
      "subs r2, #1\n bne 0b\n vpop {s16-s31}\n pop {r4-r11}\n bx lr\n");
#undef THIMBLE_ARM_COLUMN
}

/// sum[i] = x[0, i] + x[1, i] ... from +0, for 8 columns of rows that are `ld` numbers apart.
[[gnu::noinline]] inline void arm_sum_rows(const float* x, std::ptrdiff_t ld, std::ptrdiff_t rows, float* sum) {
  asm volatile(
      "vmov s0, %[zero]\n vmov.f32 s1, s0\n vmov.f32 s2, s0\n vmov.f32 s3, s0\n"
      "vmov.f32 s4, s0\n vmov.f32 s5, s0\n vmov.f32 s6, s0\n vmov.f32 s7, s0\n"
      "0: vldmia %[x], {s8-s15}\n add %[x], %[step]\n"
      "vadd.f32 s0, s0, s8\n vadd.f32 s1, s1, s9\n vadd.f32 s2, s2, s10\n vadd.f32 s3, s3, s11\n"
      "vadd.f32 s4, s4, s12\n vadd.f32 s5, s5, s13\n vadd.f32 s6, s6, s14\n vadd.f32 s7, s7, s15\n"
      "subs %[rows], #1\n bne 0b\n"
      "vstmia %[sum], {s0-s7}\n"
      : [x] "+r"(x), [rows] "+r"(rows)
      : [step] "r"(ld * std::ptrdiff_t(sizeof(float))), [sum] "r"(sum), [zero] "r"(0)
      : THIMBLE_ARM_ALL, "cc", "memory");
}
#endif

}  // namespace thimble::detail
