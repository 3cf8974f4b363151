#pragma once
/// AdamW on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55): eight elements at a
/// time by the operations of core/train/optimizer.hpp in their order, with one load or store for each eight.

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

/// Stores eight numbers, and loads them again to r4 to r11: is one of them below its floor? Not where all are at least
/// 2^-63 and below 2, whose exponents have one bit in common.
#define THIMBLE_ARM_FLOOR(at, from, slow, back)                                                             \
  "vstmia " at ", {" from "}\n ldmia " at "!, {r4-r11}\n and r12, r4, r5\n and r12, r6\n and r12, r7\n"    \
  "and r12, r8\n and r12, r9\n and r12, r10\n and r12, r11\n tst r12, #0x20000000\n beq " slow "f\n" back ":\n"
#define THIMBLE_ARM_TO_ZERO(limit, at, to, slow, back)                                                      \
  slow ": " limit "\n" THIMBLE_ARM_ZERO_BELOW("r4") THIMBLE_ARM_ZERO_BELOW("r5") THIMBLE_ARM_ZERO_BELOW("r6") \
  THIMBLE_ARM_ZERO_BELOW("r7") THIMBLE_ARM_ZERO_BELOW("r8") THIMBLE_ARM_ZERO_BELOW("r9") THIMBLE_ARM_ZERO_BELOW("r10") \
  THIMBLE_ARM_ZERO_BELOW("r11") "sub " at ", #32\n stmia " at ", {r4-r11}\n vldmia " at "!, {" to "}\n b " back "b\n"
#define THIMBLE_ARM_ZERO_BELOW(x) "cmp r12, " x ", lsl #1\n it hi\n movhi " x ", #0\n"

/// `eights` times eight elements, at least one.
[[gnu::naked, gnu::noinline]] inline void arm_adamw(float* /*weight*/, const float* /*gradient*/,
                                                    float* /*first_moment*/, float* /*second_moment*/, std::int32_t /*eights*/,
                                                    const AdamWStep<float>* /*step*/) {
  asm("push {r4-r11, lr}\n vpush {s16-s31}\n ldr lr, [sp, #100]\n ldr r12, [sp, #104]\n"
      // s24 beta1, s25 its scale, s26 beta2, s27 its scale, s28 rate, s29 root scale, s30 keep; on the stack eight copies
      // of epsilon, and the weight's floor
      "vldmia r12!, {s24-s29}\n vldr s0, [r12]\n vldr s30, [r12, #4]\n ldr r4, [r12, #8]\n lsl r4, r4, #1\n"
      "push {r4-r5}\n vmov.f32 s1, s0\n vmov.f32 s2, s0\n vmov.f32 s3, s0\n vmov.f32 s4, s0\n vmov.f32 s5, s0\n"
      "vmov.f32 s6, s0\n vmov.f32 s7, s0\n vpush {s0-s7}\n"
      "0: vldmia r1!, {s0-s7}\n vldmia r2, {s16-s23}\n"
      THIMBLE_ARM_EACH_BY("vmul.f32", B, A, "s25") THIMBLE_ARM_EACH_BY("vfma.f32", B, C, "s24")
      THIMBLE_ARM_FLOOR("r2", "s8-s15", "4", "1")
      THIMBLE_ARM_EACH_BY("vmul.f32", A, A, "s27") THIMBLE_ARM_EACH("vmul.f32", A, A, A)
      "vldmia r3, {s16-s23}\n" THIMBLE_ARM_EACH_BY("vfma.f32", A, C, "s26")
      THIMBLE_ARM_FLOOR("r3", "s0-s7", "5", "2")
      "vsqrt.f32 s0, s0\n vsqrt.f32 s1, s1\n vsqrt.f32 s2, s2\n vsqrt.f32 s3, s3\n"
      "vsqrt.f32 s4, s4\n vsqrt.f32 s5, s5\n vsqrt.f32 s6, s6\n vsqrt.f32 s7, s7\n vldmia sp, {s16-s23}\n"
      THIMBLE_ARM_EACH_BY("vfma.f32", C, A, "s29") THIMBLE_ARM_EACH("vdiv.f32", B, B, C)
      "vldmia r0, {s0-s7}\n" THIMBLE_ARM_EACH_BY("vmul.f32", A, A, "s30") THIMBLE_ARM_EACH_BY("vfms.f32", A, B, "s28")
      THIMBLE_ARM_FLOOR("r0", "s0-s7", "6", "3")
      "subs lr, #1\n bne 0b\n"
      "add sp, #40\n vpop {s16-s31}\n pop {r4-r11, pc}\n"
      THIMBLE_ARM_TO_ZERO("mov r12, #0x1b000000", "r2", "s8-s15", "4", "1")
      THIMBLE_ARM_TO_ZERO("mov r12, #0x1b000000", "r3", "s0-s7", "5", "2")
      THIMBLE_ARM_TO_ZERO("ldr r12, [sp, #32]", "r0", "s0-s7", "6", "3"));
}
#undef THIMBLE_ARM_FLOOR
#undef THIMBLE_ARM_TO_ZERO
#undef THIMBLE_ARM_ZERO_BELOW

/// Elements of a range; the last ones in eight of their own.
inline void arm_adamw_range(float* weight, const float* gradient, float* first_moment, float* second_moment,
                            const Range& range, const AdamWStep<float>& step) {
  const std::ptrdiff_t b = range.begin, eights = range.size() / 8, rest = range.size() % 8;
  if (eights > 0) {
    arm_adamw(weight + b, gradient + b, first_moment + b, second_moment + b, std::int32_t(eights), &step);
  }
  if (rest == 0) return;
  const float* const from[4] = {weight, gradient, first_moment, second_moment};
  float* const to[4] = {weight, nullptr, first_moment, second_moment};
  float eight[4][8] = {};
  const std::ptrdiff_t first = b + 8 * eights;
  for (int k = 0; k < 4; ++k) {
    for (std::ptrdiff_t i = 0; i < rest; ++i) eight[k][i] = from[k][first + i];
  }
  arm_adamw(eight[0], eight[1], eight[2], eight[3], 1, &step);
  for (int k = 0; k < 4; ++k) {
    for (std::ptrdiff_t i = 0; to[k] != nullptr && i < rest; ++i) to[k][first + i] = eight[k][i];
  }
}
#endif

}  // namespace detail
}  // namespace thimble
