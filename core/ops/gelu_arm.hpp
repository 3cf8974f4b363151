#pragma once
/// GELU's tanh form on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55): four
/// numbers at a time by the operations of core/ops/gelu.hpp in their order.

#include "core/base/worker.hpp"
#include "core/simd/functions.hpp"

namespace thimble::detail {

/// a and b of u = x (a + b x^2).
inline constexpr double kGeluA = 0.79788456080286535588;
inline constexpr double kGeluB = 0.044715 * kGeluA;

#if THIMBLE_ARM_FPU
/// What it takes beside e^x, in the order of its use: factors, then four copies of each summand.
struct ArmGeluTable {
  float square_factor, one, slope_factor, bound_square;
  float summand[4];
  float slope_summand[4];

  constexpr ArmGeluTable(double a, double b)
      : square_factor(float(-2 * b)),
        one(1),
        slope_factor(float(6 * b)),
        bound_square(kExpNormal<float> * kExpNormal<float>),
        summand{float(-2 * a), float(-2 * a), float(-2 * a), float(-2 * a)},
        slope_summand{float(2 * a), float(2 * a), float(2 * a), float(2 * a)} {}
};

inline constexpr ArmGeluTable kArmGeluTable(kGeluA, kGeluB);

// s20 to s22: the factors, s25: the bound's square. Loads x to s28 ... s31 and computes 1 + e^u.
#define THIMBLE_ARM_GELU_BEGIN                                                                             \
  "vldmia %[table], {s20-s22}\n vldr s25, [%[table], #12]\n"                                             \
  "mov %[t], %[exp]\n vldmia %[t]!, {s16-s19}\n vldr s24, [%[t]]\n"
#define THIMBLE_ARM_GELU_DIVISOR                                                                           \
  "0: vldmia %[x], {s28-s31}\n add %[t], %[table], #16\n vldmia %[t], {s4-s7}\n"                         \
  "vmul.f32 s0, s28, s28\n vmul.f32 s1, s29, s29\n vmul.f32 s2, s30, s30\n vmul.f32 s3, s31, s31\n"      \
  "vfma.f32 s4, s20, s0\n vfma.f32 s5, s20, s1\n vfma.f32 s6, s20, s2\n vfma.f32 s7, s20, s3\n"          \
  "vmul.f32 s0, s28, s4\n vmul.f32 s1, s29, s5\n vmul.f32 s2, s30, s6\n vmul.f32 s3, s31, s7\n"          \
  THIMBLE_ARM_ARE_WITHIN "add %[t], %[exp], #16\n" THIMBLE_ARM_EXP                                        \
  "vadd.f32 s0, s0, s21\n vadd.f32 s1, s1, s21\n vadd.f32 s2, s2, s21\n vadd.f32 s3, s3, s21\n"

/// y of `count` > 0 times four numbers; stops before four of which one is too large. Returns how many are left.
[[gnu::noinline]] inline std::int32_t arm_gelu(float* y, const float* x, std::int32_t count, const ArmGeluTable& table) {
  std::uint32_t a, b, c, d;
  const float* t;
  asm volatile(THIMBLE_ARM_GELU_BEGIN THIMBLE_ARM_GELU_DIVISOR
      "vdiv.f32 s0, s28, s0\n vdiv.f32 s1, s29, s1\n vdiv.f32 s2, s30, s2\n vdiv.f32 s3, s31, s3\n"
      "vstmia %[y]!, {s0-s3}\n add %[x], #16\n subs %[count], #1\n bne 0b\n"
      "9:\n"
      : [y] "+r"(y), [x] "+r"(x), [count] "+r"(count), [t] "=&r"(t), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),
        [d] "=&r"(d)
      : [table] "r"(&table), [exp] "r"(&kArmExpTable)
      : THIMBLE_ARM_ALL, "cc", "memory");
  return count;
}

/// dx, overwritten, from dy and x. What is within the exponential's bound is far within the derivative's clamp.
[[gnu::noinline]] inline std::int32_t arm_gelu_backward(float* dx, const float* dy, const float* x, std::int32_t count,
                                                        const ArmGeluTable& table) {
  std::uint32_t a, b, c, d;
  const float* t;
  asm volatile(THIMBLE_ARM_GELU_BEGIN THIMBLE_ARM_GELU_DIVISOR
      // s = 1 / divisor in s8 ... s11
      "vdiv.f32 s8, s21, s0\n vdiv.f32 s9, s21, s1\n vdiv.f32 s10, s21, s2\n vdiv.f32 s11, s21, s3\n"
      // x (s - s s)
      "vmov.f32 s0, s8\n vmov.f32 s1, s9\n vmov.f32 s2, s10\n vmov.f32 s3, s11\n"
      "vfms.f32 s0, s8, s8\n vfms.f32 s1, s9, s9\n vfms.f32 s2, s10, s10\n vfms.f32 s3, s11, s11\n"
      "vmul.f32 s0, s28, s0\n vmul.f32 s1, s29, s1\n vmul.f32 s2, s30, s2\n vmul.f32 s3, s31, s3\n"
      // 2 a + 6 b x^2
      "add %[t], %[table], #32\n vldmia %[t], {s4-s7}\n"
      "vmul.f32 s28, s28, s28\n vmul.f32 s29, s29, s29\n vmul.f32 s30, s30, s30\n vmul.f32 s31, s31, s31\n"
      "vfma.f32 s4, s22, s28\n vfma.f32 s5, s22, s29\n vfma.f32 s6, s22, s30\n vfma.f32 s7, s22, s31\n"
      "vfma.f32 s8, s0, s4\n vfma.f32 s9, s1, s5\n vfma.f32 s10, s2, s6\n vfma.f32 s11, s3, s7\n"
      "vldmia %[dy]!, {s0-s3}\n"
      "vmul.f32 s0, s0, s8\n vmul.f32 s1, s1, s9\n vmul.f32 s2, s2, s10\n vmul.f32 s3, s3, s11\n"
      "vstmia %[dx]!, {s0-s3}\n add %[x], #16\n subs %[count], #1\n bne 0b\n"
      "9:\n"
      : [dx] "+r"(dx), [dy] "+r"(dy), [x] "+r"(x), [count] "+r"(count), [t] "=&r"(t), [a] "=&r"(a), [b] "=&r"(b),
        [c] "=&r"(c), [d] "=&r"(d)
      : [table] "r"(&table), [exp] "r"(&kArmExpTable)
      : THIMBLE_ARM_ALL, "cc", "memory");
  return count;
}
#undef THIMBLE_ARM_GELU_BEGIN
#undef THIMBLE_ARM_GELU_DIVISOR

/// Takes whole fours off the front of a range: fast(begin, count) does as many as it can and returns how many it left,
/// slow(range) does a four that stopped it.
template <class Fast, class Slow>
void in_fours(Range& range, Fast fast, Slow slow) {
  while (range.size() >= 4) {
    const std::ptrdiff_t count = range.size() / 4, left = fast(range.begin, std::int32_t(count));
    range.begin += 4 * (count - left);
    if (left == 0) return;
    slow(Range{range.begin, range.begin + 4});
    range.begin += 4;
  }
}
#endif

}  // namespace thimble::detail
