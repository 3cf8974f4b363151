#pragma once
/// What the tests of this folder share: the kernel sets that this processor can run, numbers with difficult
/// bits, and comparisons of bits.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ports/host/cpu.hpp"
#include "tests/simd/sets.hpp"

namespace thimble_test {

/// All kernel sets that can run here. The first one is plain and fused, the second one plain and separate.
template <class real>
std::vector<const Kernels<real>*> kernel_sets() {
  std::vector<const Kernels<real>*> sets = {&plain_fused_kernels<real>(), &plain_separate_kernels<real>()};
#ifdef THIMBLE_TEST_X86
  if (thimble::can_run(thimble::Isa::avx2)) sets.push_back(&avx2_kernels<real>());
  if (thimble::can_run(thimble::Isa::avx512)) sets.push_back(&avx512_kernels<real>());
#endif
  return sets;
}

/// The set that defines the bits of another one.
template <class real>
const Kernels<real>& plain_of(const Kernels<real>& set) {
  return set.profile == thimble::Profile::fused ? plain_fused_kernels<real>()
                                                : plain_separate_kernels<real>();
}

/// Equal bits, or two NaNs: their payloads are not defined.
template <class real>
bool same_bits(real a, real b) {
  return std::memcmp(&a, &b, sizeof(real)) == 0 || (a != a && b != b);
}

template <class real>
std::string text_of(real x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", double(x));
  return text;
}

/// Zeros, infinities, NaN, and the neighbourhood of the ends of the normal and of the subnormal numbers.
template <class real>
std::vector<real> special_numbers() {
  using Limits = std::numeric_limits<real>;
  std::vector<real> x = {0,
                         Limits::infinity(),
                         Limits::quiet_NaN(),
                         Limits::denorm_min(),
                         2 * Limits::denorm_min(),
                         3 * Limits::denorm_min(),
                         Limits::min() - Limits::denorm_min(),
                         Limits::min(),
                         Limits::min() + Limits::denorm_min(),
                         Limits::max() / 2,
                         std::nextafter(Limits::max(), real(0)),
                         Limits::max(),
                         1,
                         std::nextafter(real(1), real(0)),
                         std::nextafter(real(1), real(2)),
                         Limits::epsilon() / 2,
                         real(0.5),
                         2,
                         3};
  for (int i = int(x.size()) - 1; i >= 0; --i) x.push_back(-x[i]);
  return x;
}

/// A number whose exponent lies in low..high (biased) and whose mantissa is often all zeros, all ones, a
/// single one or half empty: what rounding is hard for.
template <class real, class Random>
real difficult_number(Random& random, int low, int high) {
  using Bits = thimble::BitsOf<real>;
  constexpr int digits = thimble::FloatLayout<real>::mantissa_bits;
  constexpr Bits all = (Bits(1) << digits) - 1;
  Bits mantissa = Bits(random()) & all;
  switch (random() % 6) {
    case 0:
      mantissa = 0;
      break;
    case 1:
      mantissa = all;
      break;
    case 2:
      mantissa = Bits(1) << (random() % digits);
      break;
    case 3:
      mantissa &= all << (digits / 2);
      break;
    case 4:
      mantissa = all ^ (Bits(1) << (random() % digits));
      break;
    default:
      break;
  }
  const Bits sign = Bits(random() & 1) << (8 * sizeof(real) - 1);
  const Bits exponent = Bits(low + int(random() % unsigned(high - low + 1)));
  return std::bit_cast<real>(Bits(sign | exponent << digits | mantissa));
}

}  // namespace thimble_test
