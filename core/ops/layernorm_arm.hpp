#pragma once
/// Layer normalisation of rows of 16 numbers on Arm processors with the single-precision registers s0 to s31
/// (Cortex-M4F, M7, M33, M55): a row stays in registers. The operations are those of core/ops/layernorm.hpp in their
/// order.
///
/// Sixteen lanes add what they get to +0, so no sum is -0. Here they begin with what they get, and +0 is added at the
/// end.

#include <cstddef>

#include "core/simd/arm.hpp"

namespace thimble::detail {

#if THIMBLE_ARM_FPU
/// Where rows lie, and what they share.
struct ArmLayerNorm {
  const float* x;
  const float* gain;
  const float* bias;
  float* saved;
  std::ptrdiff_t rows;  ///< at least 1
};

/// The numbers that a row of 16 takes: 1 / 16, eps, 1, 0.
struct ArmNormNumbers {
  float sixteenth = 0.0625f, eps, one = 1, zero = 0;
};

// The sum of s16 to s23, to s16.
#define THIMBLE_ARM_FOLD_THIRD                                                                          \
  "vadd.f32 s16, s16, s20\n vadd.f32 s17, s17, s21\n vadd.f32 s18, s18, s22\n vadd.f32 s19, s19, s23\n" \
  "vadd.f32 s16, s16, s18\n vadd.f32 s17, s17, s19\n vadd.f32 s16, s16, s17\n"
#define THIMBLE_ARM_ROW_OF_Y                                                                      \
  "vldmia %[bias]!, {s16-s23}\n vldmia %[gain]!, {s24-s31}\n"

[[gnu::noinline]] inline void arm_layernorm(const ArmLayerNorm& rows, float* y, const ArmNormNumbers& numbers) {
  const float* x = rows.x;
  const float* gain = rows.gain;
  const float* bias = rows.bias;
  float* saved = rows.saved;
  std::ptrdiff_t count = rows.rows;
  asm volatile(
      "0: vldmia %[x]!, {s0-s15}\n vldmia %[numbers], {s24-s27}\n"
      THIMBLE_ARM_EACH("vadd.f32", C, A, B)
      THIMBLE_ARM_FOLD_THIRD "vadd.f32 s16, s16, s27\n vmul.f32 s28, s16, s24\n"
      THIMBLE_ARM_EACH_BY("vsub.f32", A, A, "s28") THIMBLE_ARM_EACH_BY("vsub.f32", B, B, "s28")
      THIMBLE_ARM_EACH("vmul.f32", C, A, A)
      "vmul.f32 s30, s8, s8\n vmul.f32 s31, s9, s9\n vadd.f32 s16, s16, s30\n vadd.f32 s17, s17, s31\n"
      "vmul.f32 s30, s10, s10\n vmul.f32 s31, s11, s11\n vadd.f32 s18, s18, s30\n vadd.f32 s19, s19, s31\n"
      "vmul.f32 s30, s12, s12\n vmul.f32 s31, s13, s13\n vadd.f32 s20, s20, s30\n vadd.f32 s21, s21, s31\n"
      "vmul.f32 s30, s14, s14\n vmul.f32 s31, s15, s15\n vadd.f32 s22, s22, s30\n vadd.f32 s23, s23, s31\n"
      THIMBLE_ARM_FOLD_THIRD "vmul.f32 s16, s16, s24\n"
      "vadd.f32 s16, s16, s25\n vsqrt.f32 s16, s16\n vdiv.f32 s29, s26, s16\n"
      "vstmia %[saved]!, {s28-s29}\n"
      THIMBLE_ARM_EACH_BY("vmul.f32", A, A, "s29") THIMBLE_ARM_EACH_BY("vmul.f32", B, B, "s29")
      THIMBLE_ARM_ROW_OF_Y
      THIMBLE_ARM_EACH("vfma.f32", C, A, D)
      "vstmia %[y]!, {s16-s23}\n" THIMBLE_ARM_ROW_OF_Y
      THIMBLE_ARM_EACH("vfma.f32", C, B, D)
      "vstmia %[y]!, {s16-s23}\n"
      "sub %[gain], #64\n sub %[bias], #64\n subs %[count], #1\n bne 0b\n"
      : [x] "+r"(x), [y] "+r"(y), [gain] "+r"(gain), [bias] "+r"(bias), [saved] "+r"(saved), [count] "+r"(count)
      : [numbers] "r"(&numbers)
      : THIMBLE_ARM_ALL, "cc", "memory");
}
#undef THIMBLE_ARM_ROW_OF_Y

/// What the rows of a backward pass share: for each eight columns g and n of the row under way, the sums of dy n and of
/// dy over rows, and g n of the row.
struct ArmNormSums {
  struct Half {
    float row[2][8];
    float sum[2][8];
    float products[8];
  } half[2];
};
static_assert(sizeof(ArmNormSums) == 320);

/// dx of all rows, overwritten or added to; the sums go on. Of `rows`, `bias` is not read.
[[gnu::noinline]] inline void arm_layernorm_backward(const ArmLayerNorm& rows, const float* dy, float* dx, bool adds,
                                                     ArmNormSums& sums) {
  const float* x = rows.x;
  const float* gain = rows.gain;
  const float* saved = rows.saved;
  std::ptrdiff_t count = rows.rows, half;
  float* at = sums.half[0].row[0];
  asm volatile(
      "0: mov %[half], #1\n"
      // g in s8 ... s15, n in s16 ... s23
      "1: vldmia %[saved], {s24-s25}\n vldmia %[dy]!, {s0-s7}\n vldmia %[gain]!, {s8-s15}\n vldmia %[x]!, {s16-s23}\n"
      THIMBLE_ARM_EACH("vmul.f32", B, A, B)
      THIMBLE_ARM_EACH_BY("vsub.f32", C, C, "s24") THIMBLE_ARM_EACH_BY("vmul.f32", C, C, "s25")
      "vstmia %[at]!, {s8-s23}\n"
      "vldmia %[at], {s24-s31}\n"
      THIMBLE_ARM_EACH("vfma.f32", D, A, C)
      "vstmia %[at]!, {s24-s31}\n vldmia %[at], {s24-s31}\n"
      THIMBLE_ARM_EACH("vadd.f32", D, D, A)
      "vstmia %[at]!, {s24-s31}\n"
      THIMBLE_ARM_EACH("vmul.f32", C, B, C)
      "vstmia %[at]!, {s16-s23}\n subs %[half], #1\n bpl 1b\n"
      "sub %[gain], #64\n sub %[at], #192\n vldmia %[at], {s24-s31}\n sub %[at], #128\n vldmia %[at], {s0-s7}\n"
      // s0: the mean of g, s16: of g n
      THIMBLE_ARM_FOLD
      THIMBLE_ARM_EACH("vadd.f32", C, D, C)
      THIMBLE_ARM_FOLD_THIRD
      "vmov s1, s2, %[zero], %[sixteenth]\n vadd.f32 s0, s0, s1\n vadd.f32 s16, s16, s1\n"
      "vmul.f32 s0, s0, s2\n vmul.f32 s1, s16, s2\n vldmia %[saved]!, {s2-s3}\n mov %[half], #1\n"
      "2: vldmia %[at]!, {s8-s23}\n"
      THIMBLE_ARM_EACH_BY("vsub.f32", B, B, "s0")
      THIMBLE_ARM_EACH_BY("vfms.f32", B, C, "s1")
      THIMBLE_ARM_EACH_BY("vmul.f32", B, B, "s3")
      "cbz %[adds], 3f\n vldmia %[dx], {s16-s23}\n"
      THIMBLE_ARM_EACH("vadd.f32", B, C, B)
      "3: vstmia %[dx]!, {s8-s15}\n add %[at], #96\n subs %[half], #1\n bpl 2b\n"
      "sub %[at], #320\n subs %[count], #1\n bne 0b\n"
      : [x] "+r"(x), [dy] "+r"(dy), [dx] "+r"(dx), [gain] "+r"(gain), [saved] "+r"(saved), [count] "+r"(count),
        [at] "+r"(at), [half] "=&r"(half)
      : [adds] "l"(int(adds)), [zero] "r"(0), [sixteenth] "r"(0.0625f)
      : THIMBLE_ARM_ALL, "cc", "memory");
}
#undef THIMBLE_ARM_FOLD_THIRD
#endif

}  // namespace thimble::detail
