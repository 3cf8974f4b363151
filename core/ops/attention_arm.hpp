#pragma once
/// The chains of attention on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55):
/// 2 rows by 8 columns in registers. Each output is the chain that ChainTile computes.

#include <cstddef>

#include "core/ops/product_arm.hpp"

namespace thimble::detail {

#if THIMBLE_ARM_FPU
/// sums[r, n] goes on by the chain over t of a[r, t] b[t, n], for 2 pairs rows r and 8 columns n. Distances in bytes.
struct ArmChain {
  const float* a;
  const float* b;
  float* sums;
  const float* scales;      ///< null: none
  std::int32_t a_step;      ///< across: between summands; along: between rows
  std::int32_t ldb;
  std::int32_t ldsums;
  std::int32_t steps;       ///< of the first row
  std::int32_t pairs;       ///< at least 1
  std::int32_t from_zero;
  std::int32_t scale_step;  ///< between the scales of two rows
  std::int32_t triangle;    ///< 2, or 0 where all rows take the same summands
};
static_assert(offsetof(ArmChain, a_step) == 16 && offsetof(ArmChain, triangle) == 44);

#define THIMBLE_ARM_NEXT_OF_B "vldmia r3, {s16-s23}\n add r3, r4\n"
#define THIMBLE_ARM_LOAD                                                                                     \
  "push {r4-r11, lr}\n vpush {s16-s31}\n ldr r8, [r0]\n ldr r10, [r0, #4]\n ldr r11, [r0, #8]\n"              \
  "ldr r6, [r0, #16]\n ldr r4, [r0, #20]\n ldr r9, [r0, #24]\n ldr lr, [r0, #28]\n ldr r7, [r0, #32]\n"
#define THIMBLE_ARM_START                                                                            \
  "0: ldr r5, [r0, #36]\n cbz r5, 7f\n adr r12, 9f\n vldmia r12, {s0-s15}\n b 8f\n"                  \
  "7: vldmia r11, {s0-s7}\n add r12, r11, r9\n vldmia r12, {s8-s15}\n 8:\n"
/// Scales and stores; r12 is free.
#define THIMBLE_ARM_STORE                                                                                \
  "ldr r12, [r0, #12]\n cmp r12, #0\n beq 6f\n vldr s16, [r12]\n ldr r5, [r0, #40]\n add r12, r5\n"       \
  "vldr s17, [r12]\n add r12, r5\n str r12, [r0, #12]\n"                                                  \
  THIMBLE_ARM_EACH_BY("vmul.f32", A, A, "s16") THIMBLE_ARM_EACH_BY("vmul.f32", B, B, "s17")               \
  "6: vstmia r11, {s0-s7}\n add r11, r9\n vstmia r11, {s8-s15}\n add r11, r9\n"                           \
  "subs r7, #1\n bne 0b\n vpop {s16-s31}\n pop {r4-r11, pc}\n .balign 4\n 9: .zero 64\n"

/// Rows of sums lie across the rows of a: a[t, r]. In a triangle row r takes r more summands than the first one.
#define THIMBLE_ARM_STEP "vldr d12, [r1]\n add r1, r6\n" THIMBLE_ARM_NEXT_OF_B \
  THIMBLE_ARM_EACH_BY("vfma.f32", A, C, "s24") THIMBLE_ARM_EACH_BY("vfma.f32", B, C, "s25")
[[gnu::naked, gnu::noinline]] inline void arm_chain_across(ArmChain*) {
  asm(THIMBLE_ARM_LOAD THIMBLE_ARM_START
      "mov r1, r8\n add r8, #8\n mov r3, r10\n lsrs r5, lr, #2\n beq 2f\n"
      "1:\n" THIMBLE_ARM_STEP THIMBLE_ARM_STEP THIMBLE_ARM_STEP THIMBLE_ARM_STEP "subs r5, #1\n bne 1b\n"
      "2: ands r5, lr, #3\n beq 4f\n"
      "3:\n" THIMBLE_ARM_STEP "subs r5, #1\n bne 3b\n"
      "4: ldr r5, [r0, #44]\n cbz r5, 5f\n add lr, r5\n"
      "vldr s25, [r1, #4]\n vldmia r3, {s16-s23}\n" THIMBLE_ARM_EACH_BY("vfma.f32", B, C, "s25")
      "5:\n" THIMBLE_ARM_STORE);
}
#undef THIMBLE_ARM_STEP

/// Rows of sums are rows of a: a[r, t]. In a triangle row r leaves the first r summands out.
#define THIMBLE_ARM_STEP(upper, lower) \
  THIMBLE_ARM_NEXT_OF_B THIMBLE_ARM_EACH_BY("vfma.f32", A, C, upper) THIMBLE_ARM_EACH_BY("vfma.f32", B, C, lower)
[[gnu::naked, gnu::noinline]] inline void arm_chain_along(ArmChain*) {
  asm(THIMBLE_ARM_LOAD THIMBLE_ARM_START
      "mov r1, r8\n add r2, r8, r6\n add r8, r2, r6\n mov r3, r10\n mov r12, lr\n"
      "ldr r5, [r0, #44]\n cbz r5, 5f\n sub lr, r5\n sub r12, #1\n add r8, #8\n add r10, r10, r4, lsl #1\n"
      "vldmia r1!, {s24}\n add r2, #4\n" THIMBLE_ARM_NEXT_OF_B THIMBLE_ARM_EACH_BY("vfma.f32", A, C, "s24")
      "5: lsrs r5, r12, #2\n beq 2f\n"
      "1: vldmia r1!, {s24-s27}\n vldmia r2!, {s28-s31}\n"
      THIMBLE_ARM_STEP("s24", "s28") THIMBLE_ARM_STEP("s25", "s29")
      THIMBLE_ARM_STEP("s26", "s30") THIMBLE_ARM_STEP("s27", "s31") "subs r5, #1\n bne 1b\n"
      "2: ands r5, r12, #3\n beq 4f\n"
      "3: vldmia r1!, {s24}\n vldmia r2!, {s28}\n" THIMBLE_ARM_STEP("s24", "s28") "subs r5, #1\n bne 3b\n"
      "4:\n" THIMBLE_ARM_STORE);
}
#undef THIMBLE_ARM_STEP
#undef THIMBLE_ARM_NEXT_OF_B
#undef THIMBLE_ARM_LOAD
#undef THIMBLE_ARM_START
#undef THIMBLE_ARM_STORE
#endif

}  // namespace thimble::detail
