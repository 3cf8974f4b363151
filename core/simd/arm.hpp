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
#define THIMBLE_ARM_ALL                                                                                 \
  "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", \
      "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

// One operation of eight triples of registers; of s0 to s7, s8 to s15 and s16 to s23 in place, with one other number.
#define THIMBLE_ARM_EACH8(op, a0, b0, c0, a1, b1, c1, a2, b2, c2, a3, b3, c3, a4, b4, c4, a5, b5, c5, a6, b6, c6, a7, b7, c7) \
  op " " a0 ", " b0 ", " c0 "\n " op " " a1 ", " b1 ", " c1 "\n " op " " a2 ", " b2 ", " c2 "\n " op " " a3 ", " b3 ", " c3 \
     "\n " op " " a4 ", " b4 ", " c4 "\n " op " " a5 ", " b5 ", " c5 "\n " op " " a6 ", " b6 ", " c6 "\n " op " " a7 ", " b7 \
     ", " c7 "\n"
#define THIMBLE_ARM_LOW_BY(op, by)                                                                      \
  THIMBLE_ARM_EACH8(op, "s0", "s0", by, "s1", "s1", by, "s2", "s2", by, "s3", "s3", by, "s4", "s4", by, "s5", "s5", by, \
                    "s6", "s6", by, "s7", "s7", by)
#define THIMBLE_ARM_HIGH_BY(op, by)                                                                           \
  THIMBLE_ARM_EACH8(op, "s8", "s8", by, "s9", "s9", by, "s10", "s10", by, "s11", "s11", by, "s12", "s12", by, "s13", \
                    "s13", by, "s14", "s14", by, "s15", "s15", by)
#define THIMBLE_ARM_THIRD_BY(op, by)                                                                                 \
  THIMBLE_ARM_EACH8(op, "s16", "s16", by, "s17", "s17", by, "s18", "s18", by, "s19", "s19", by, "s20", "s20", by, "s21", \
                    "s21", by, "s22", "s22", by, "s23", "s23", by)

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

/// lane[i] += the products of x and y at i, 16 + i, 32 + i ..., one mul_add each; `sixteens` > 0 times sixteen.
THIMBLE_INLINE void arm_dot_lanes(const float* x, const float* y, std::ptrdiff_t sixteens, float* lane) {
  asm volatile(
      "vldmia %[lane], {s0-s15}\n"
      "0: vldmia %[x]!, {s16-s23}\n vldmia %[y]!, {s24-s31}\n"
      "vfma.f32 s0, s16, s24\n vfma.f32 s1, s17, s25\n vfma.f32 s2, s18, s26\n vfma.f32 s3, s19, s27\n"
      "vfma.f32 s4, s20, s28\n vfma.f32 s5, s21, s29\n vfma.f32 s6, s22, s30\n vfma.f32 s7, s23, s31\n"
      "vldmia %[x]!, {s16-s23}\n vldmia %[y]!, {s24-s31}\n"
      "vfma.f32 s8, s16, s24\n vfma.f32 s9, s17, s25\n vfma.f32 s10, s18, s26\n vfma.f32 s11, s19, s27\n"
      "vfma.f32 s12, s20, s28\n vfma.f32 s13, s21, s29\n vfma.f32 s14, s22, s30\n vfma.f32 s15, s23, s31\n"
      "subs %[count], #1\n bne 0b\n"
      "vstmia %[lane], {s0-s15}\n"
      : [x] "+r"(x), [y] "+r"(y), [count] "+r"(sixteens)
      : [lane] "r"(lane)
      : THIMBLE_ARM_ALL, "cc", "memory");
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
