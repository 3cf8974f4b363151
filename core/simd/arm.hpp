#pragma once
/// e^x of four numbers on Arm processors with the single-precision registers s0 to s31 (Cortex-M4F, M7, M33, M55), by the
/// operations of core/simd/functions.hpp in their order. The gain over GCC's code: a multiply-add overwrites its summand,
/// so Horner's rule wants a fresh copy of each coefficient for every number, and one vldm brings four.

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

struct ArmExp {
  using Vec = thimble::Vec<float, Plain<Profile::fused>>;

  /// For |x| < kExpNormal.
  THIMBLE_INLINE static Vec run(Vec x) {
    register float x0 asm("s0") = x.lane[0];
    register float x1 asm("s1") = x.lane[1];
    register float x2 asm("s2") = x.lane[2];
    register float x3 asm("s3") = x.lane[3];
    const ArmExpTable* table = &kArmExpTable;
    std::uint32_t a, b, c, d;
    asm("vldmia %[table]!, {s16-s19}\n"
        // t = x / ln 2 + magic: its lowest bits are the integer n
        "vldmia %[table]!, {s4-s7}\n"
        "vfma.f32 s4, s0, s16\n vfma.f32 s5, s1, s16\n vfma.f32 s6, s2, s16\n vfma.f32 s7, s3, s16\n"
        // n = t - magic
        "vldr s16, [%[table], #-4]\n"
        "vsub.f32 s12, s4, s16\n vsub.f32 s13, s5, s16\n vsub.f32 s14, s6, s16\n vsub.f32 s15, s7, s16\n"
        // r = x - n ln 2, in two parts
        "vfms.f32 s0, s12, s17\n vfms.f32 s1, s13, s17\n vfms.f32 s2, s14, s17\n vfms.f32 s3, s15, s17\n"
        "vfms.f32 s0, s12, s18\n vfms.f32 s1, s13, s18\n vfms.f32 s2, s14, s18\n vfms.f32 s3, s15, s18\n"
        // m = 1 + r (1 + r (c0 + r (c1 ...)))
        "vldmia %[table]!, {s8-s11}\n"
        "vfma.f32 s8, s19, s0\n vfma.f32 s9, s19, s1\n vfma.f32 s10, s19, s2\n vfma.f32 s11, s19, s3\n"
        "vldmia %[table]!, {s12-s15}\n"
        "vfma.f32 s12, s8, s0\n vfma.f32 s13, s9, s1\n vfma.f32 s14, s10, s2\n vfma.f32 s15, s11, s3\n"
        "vldmia %[table]!, {s8-s11}\n"
        "vfma.f32 s8, s12, s0\n vfma.f32 s9, s13, s1\n vfma.f32 s10, s14, s2\n vfma.f32 s11, s15, s3\n"
        "vldmia %[table]!, {s12-s15}\n"
        "vfma.f32 s12, s8, s0\n vfma.f32 s13, s9, s1\n vfma.f32 s14, s10, s2\n vfma.f32 s15, s11, s3\n"
        "vldmia %[table]!, {s8-s11}\n"
        "vfma.f32 s8, s12, s0\n vfma.f32 s9, s13, s1\n vfma.f32 s10, s14, s2\n vfma.f32 s11, s15, s3\n"
        "vldmia %[table]!, {s12-s15}\n"
        "vfma.f32 s12, s8, s0\n vfma.f32 s13, s9, s1\n vfma.f32 s14, s10, s2\n vfma.f32 s15, s11, s3\n"
        // m 2^n: n is added to the exponent
        "vmov %[a], %[b], s4, s5\n vmov %[c], %[d], s12, s13\n"
        "add %[a], %[c], %[a], lsl #23\n add %[b], %[d], %[b], lsl #23\n vmov s0, s1, %[a], %[b]\n"
        "vmov %[a], %[b], s6, s7\n vmov %[c], %[d], s14, s15\n"
        "add %[a], %[c], %[a], lsl #23\n add %[b], %[d], %[b], lsl #23\n vmov s2, s3, %[a], %[b]\n"
        : "+t"(x0), "+t"(x1), "+t"(x2), "+t"(x3), [table] "+r"(table), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),
          [d] "=&r"(d)
        : "m"(kArmExpTable)
        : "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19");
    return {{x0, x1, x2, x3}};
  }
};
#endif

}  // namespace thimble::detail
