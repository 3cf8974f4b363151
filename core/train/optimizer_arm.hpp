#pragma once
/// AdamW on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55): four elements at a
/// time by the operations of core/train/optimizer.hpp in their order, with one load or store for each four.

#include <cstddef>

#include "core/base/worker.hpp"
#include "core/simd/arm.hpp"

namespace thimble {

template <class real>
struct AdamWStep;

namespace detail {

#if THIMBLE_ARM_FPU
inline constexpr float kArmMomentFloor = 0x1p-100f;  // its bits twice are a constant of the code
static_assert(std::bit_cast<std::uint32_t>(kArmMomentFloor) << 1 == 0x1b000000);

/// Stores four numbers, and loads them again to r4 to r7: is one of them below the floor in `limit`? Not where all are at
/// least 2^-63 and below 2, whose exponents have one bit in common.
#define THIMBLE_ARM_FLOOR(at, from, slow, back)                                                       \
  "vstmia " at ", {" from "}\n ldmia " at "!, {r4-r7}\n and r12, r4, r5\n and r12, r6\n and r12, r7\n" \
  "tst r12, #0x20000000\n beq " slow "f\n" back ":\n"
#define THIMBLE_ARM_TO_ZERO(limit, at, to, slow, back)                                                \
  slow ": cmp " limit ", r4, lsl #1\n it hi\n movhi r4, #0\n cmp " limit ", r5, lsl #1\n it hi\n"     \
       "movhi r5, #0\n cmp " limit ", r6, lsl #1\n it hi\n movhi r6, #0\n cmp " limit ", r7, lsl #1\n" \
       "it hi\n movhi r7, #0\n stmdb " at ", {r4-r7}\n" to "b " back "b\n"

/// `fours` times four elements, at least one.
[[gnu::naked, gnu::noinline]] inline void arm_adamw(float* /*weight*/, const float* /*gradient*/, float* /*first_moment*/,
                                                    float* /*second_moment*/, std::int32_t /*fours*/,
                                                    const AdamWStep<float>* /*step*/) {
  asm("push {r4-r9, r10, lr}\n vpush {s16-s31}\n ldr lr, [sp, #96]\n ldr r8, [sp, #100]\n"
      // s16 scale, s17 beta1, s18 1 - beta1, s19 beta2, s20 1 - beta2, s21 rate, s22 root scale, s23 epsilon, s24 keep
      "vldmia r8, {s16-s25}\n vmov r8, s25\n lsl r8, r8, #1\n mov r9, #0x1b000000\n"
      "vmov.f32 s28, s23\n vmov.f32 s29, s23\n vmov.f32 s30, s23\n vmov.f32 s31, s23\n vpush {s28-s31}\n"
      "0: vldmia r1!, {s0-s3}\n"
      "vmul.f32 s0, s0, s16\n vmul.f32 s1, s1, s16\n vmul.f32 s2, s2, s16\n vmul.f32 s3, s3, s16\n"
      "vldmia r2, {s4-s7}\n"
      "vmul.f32 s12, s18, s0\n vmul.f32 s13, s18, s1\n vmul.f32 s14, s18, s2\n vmul.f32 s15, s18, s3\n"
      "vfma.f32 s12, s17, s4\n vfma.f32 s13, s17, s5\n vfma.f32 s14, s17, s6\n vfma.f32 s15, s17, s7\n"
      THIMBLE_ARM_FLOOR("r2", "s12-s15", "4", "1")
      "vmul.f32 s0, s0, s0\n vmul.f32 s1, s1, s1\n vmul.f32 s2, s2, s2\n vmul.f32 s3, s3, s3\n"
      "vldmia r3, {s4-s7}\n"
      "vmul.f32 s0, s20, s0\n vmul.f32 s1, s20, s1\n vmul.f32 s2, s20, s2\n vmul.f32 s3, s20, s3\n"
      "vfma.f32 s0, s19, s4\n vfma.f32 s1, s19, s5\n vfma.f32 s2, s19, s6\n vfma.f32 s3, s19, s7\n"
      THIMBLE_ARM_FLOOR("r3", "s0-s3", "5", "2")
      "vsqrt.f32 s0, s0\n vsqrt.f32 s1, s1\n vsqrt.f32 s2, s2\n vsqrt.f32 s3, s3\n"
      "vldmia sp, {s4-s7}\n"
      "vfma.f32 s4, s0, s22\n vfma.f32 s5, s1, s22\n vfma.f32 s6, s2, s22\n vfma.f32 s7, s3, s22\n"
      "vdiv.f32 s4, s12, s4\n vdiv.f32 s5, s13, s5\n vdiv.f32 s6, s14, s6\n vdiv.f32 s7, s15, s7\n"
      "vldmia r0, {s0-s3}\n"
      "vmul.f32 s0, s0, s24\n vmul.f32 s1, s1, s24\n vmul.f32 s2, s2, s24\n vmul.f32 s3, s3, s24\n"
      "vfms.f32 s0, s21, s4\n vfms.f32 s1, s21, s5\n vfms.f32 s2, s21, s6\n vfms.f32 s3, s21, s7\n"
      THIMBLE_ARM_FLOOR("r0", "s0-s3", "6", "3")
      "subs lr, #1\n bne 0b\n"
      "add sp, #16\n vpop {s16-s31}\n pop {r4-r9, r10, pc}\n"
      THIMBLE_ARM_TO_ZERO("r9", "r2", "vmov s12, s13, r4, r5\n vmov s14, s15, r6, r7\n", "4", "1")
      THIMBLE_ARM_TO_ZERO("r9", "r3", "vmov s0, s1, r4, r5\n vmov s2, s3, r6, r7\n", "5", "2")
      THIMBLE_ARM_TO_ZERO("r8", "r0", "", "6", "3"));
}
#undef THIMBLE_ARM_FLOOR
#undef THIMBLE_ARM_TO_ZERO

/// Elements of a range; the last ones in four of their own.
inline void arm_adamw_range(float* weight, const float* gradient, float* first_moment, float* second_moment,
                            const Range& range, const AdamWStep<float>& step) {
  const std::ptrdiff_t b = range.begin, fours = range.size() / 4, rest = range.size() % 4;
  if (fours > 0) {
    arm_adamw(weight + b, gradient + b, first_moment + b, second_moment + b, std::int32_t(fours), &step);
  }
  if (rest == 0) return;
  const float* const from[4] = {weight, gradient, first_moment, second_moment};
  float* const to[4] = {weight, nullptr, first_moment, second_moment};
  float four[4][4] = {};
  const std::ptrdiff_t first = b + 4 * fours;
  for (int k = 0; k < 4; ++k) {
    for (std::ptrdiff_t i = 0; i < rest; ++i) four[k][i] = from[k][first + i];
  }
  arm_adamw(four[0], four[1], four[2], four[3], 1, &step);
  for (int k = 0; k < 4; ++k) {
    for (std::ptrdiff_t i = 0; to[k] != nullptr && i < rest; ++i) to[k][first + i] = four[k][i];
  }
}
#endif

}  // namespace detail
}  // namespace thimble
