#pragma once
/// GELU's tanh form on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55), by the
/// operations of core/ops/gelu.hpp in their order.

#include "core/base/worker.hpp"
#include "core/simd/functions.hpp"

namespace thimble::detail {

/// a and b of u = x (a + b x^2).
inline constexpr double kGeluA = 0.79788456080286535588;
inline constexpr double kGeluB = 0.044715 * kGeluA;

#if THIMBLE_ARM_FPU
/// What it takes: copies of each summand, then factors.
struct ArmGeluTable {
  float summand[8];
  float square_factor, one = 1;
  float slope_summand[4];
  float slope_factor;

  constexpr ArmGeluTable(double a, double b) : square_factor(float(-2 * b)), slope_factor(float(6 * b)) {
    for (float& copy : summand) copy = float(-2 * a);
    for (float& copy : slope_summand) copy = float(2 * a);
  }
};

inline constexpr ArmGeluTable kArmGeluTable(kGeluA, kGeluB);

/// y of `count` > 0 times eight numbers; stops before eight of which one is too large. Returns how many are left.
[[gnu::naked, gnu::noinline]] inline std::int32_t arm_gelu(float* /*y*/, const float* /*x*/, std::int32_t /*count*/,
                                                           const ArmGeluTable* /*table*/ = &kArmGeluTable,
                                                           const ArmExpTable* /*exp*/ = &kArmExpTable) {
  asm("push {r4-r11, lr}\n vpush {s16-s31}\n ldr r12, [sp, #100]\n" THIMBLE_ARM_EXP_FACTORS "str r12, [sp, #100]\n"
      "add r12, r3, #32\n vldmia r12, {s30-s31}\n"
      "0: vldmia r1, {s0-s7}\n" THIMBLE_ARM_EACH("vmul.f32", B, A, A)
      "vldmia r3, {s16-s23}\n" THIMBLE_ARM_EACH_BY("vfma.f32", C, B, "s30") THIMBLE_ARM_EACH("vmul.f32", A, A, C)
      THIMBLE_ARM_ARE_WITHIN "ldr r12, [sp, #100]\n" THIMBLE_ARM_EXP
      THIMBLE_ARM_EACH_BY("vadd.f32", A, A, "s31")
      "vldmia r1!, {s8-s15}\n" THIMBLE_ARM_EACH("vdiv.f32", A, B, A)
      "vstmia r0!, {s0-s7}\n subs r2, #1\n bne 0b\n"
      "9: mov r0, r2\n vpop {s16-s31}\n pop {r4-r11, pc}\n");
}

/// dx, overwritten, from dy, x and y, of `count` > 0 times four numbers. Stops before four for which the product of the
/// squares is 0 or not finite, or not far from both; returns how many are left. What has a finite square needs no clamp.
[[gnu::noinline]] inline std::int32_t arm_gelu_backward(float* dx, const float* dy, const float* x, const float* y,
                                                        std::int32_t count, const ArmGeluTable& table) {
  std::uint32_t bits;
  asm volatile(
      "vldr s20, [%[slope], #16]\n"
      // x in s0 ... s3, s = y / x in s4 ... s7, x^2 in s8 ... s11
      "0: vldmia %[x]!, {s0-s3}\n vldmia %[y]!, {s4-s7}\n"
      "vmul.f32 s8, s0, s0\n vmul.f32 s9, s1, s1\n vmul.f32 s10, s2, s2\n vmul.f32 s11, s3, s3\n"
      "vmul.f32 s12, s8, s9\n vmul.f32 s13, s10, s11\n vmul.f32 s12, s12, s13\n vmov %[bits], s12\n"
      "sub %[bits], #0x03800000\n cmp %[bits], #0x78000000\n bhs 9f\n"  // from 2^-120 to 2^120
      "vdiv.f32 s4, s4, s0\n vdiv.f32 s5, s5, s1\n vdiv.f32 s6, s6, s2\n vdiv.f32 s7, s7, s3\n"
      // x (s - s s) in s0 ... s3
      "vmov.f32 s12, s4\n vmov.f32 s13, s5\n vmov.f32 s14, s6\n vmov.f32 s15, s7\n"
      "vfms.f32 s12, s4, s4\n vfms.f32 s13, s5, s5\n vfms.f32 s14, s6, s6\n vfms.f32 s15, s7, s7\n"
      "vmul.f32 s0, s0, s12\n vmul.f32 s1, s1, s13\n vmul.f32 s2, s2, s14\n vmul.f32 s3, s3, s15\n"
      // 2 a + 6 b x^2
      "vldmia %[slope], {s16-s19}\n"
      "vfma.f32 s16, s20, s8\n vfma.f32 s17, s20, s9\n vfma.f32 s18, s20, s10\n vfma.f32 s19, s20, s11\n"
      "vfma.f32 s4, s0, s16\n vfma.f32 s5, s1, s17\n vfma.f32 s6, s2, s18\n vfma.f32 s7, s3, s19\n"
      "vldmia %[dy]!, {s0-s3}\n"
      "vmul.f32 s0, s0, s4\n vmul.f32 s1, s1, s5\n vmul.f32 s2, s2, s6\n vmul.f32 s3, s3, s7\n"
      "vstmia %[dx]!, {s0-s3}\n subs %[count], #1\n bne 0b\n"
      "9:\n"
      : [dx] "+r"(dx), [dy] "+r"(dy), [x] "+r"(x), [y] "+r"(y), [count] "+r"(count), [bits] "=&r"(bits)
      : [slope] "r"(table.slope_summand)
      : THIMBLE_ARM_ALL, "cc", "memory");
  return count;
}

/// Takes whole groups of kSize off the front of a range: fast(begin, count) does as many groups as it can and returns how
/// many it left, slow(range) does one that stopped it.
template <int kSize, class Fast, class Slow>
void in_groups(Range& range, Fast fast, Slow slow) {
  while (range.size() >= kSize) {
    const std::ptrdiff_t count = range.size() / kSize, left = fast(range.begin, std::int32_t(count));
    range.begin += kSize * (count - left);
    if (left == 0) return;
    slow(Range{range.begin, range.begin + kSize});
    range.begin += kSize;
  }
}
#endif

}  // namespace thimble::detail
