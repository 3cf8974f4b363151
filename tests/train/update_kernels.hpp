#pragma once
/// Gives the update kernels of one instruction set to the tests. Each is built in a unit of its own, with its
/// own compiler flags, and hands out nothing but function pointers.

#include "core/train/optimizer.hpp"

namespace thimble_test {

struct Updates {
  const char* name;
  thimble::Profile profile;
  thimble::UpdateKernels<float> f32;
  thimble::UpdateKernels<double> f64;

  template <class real>
  const thimble::UpdateKernels<real>& of() const {
    if constexpr (sizeof(real) == 4) {
      return f32;
    } else {
      return f64;
    }
  }
};

const Updates* plain_fused_updates();
const Updates* plain_separate_updates();
/// These two where THIMBLE_TEST_X86 is defined; only a processor that has the instructions may run them.
const Updates* avx2_updates();
const Updates* avx512_updates();

template <class Arch>
const Updates* updates(const char* name) {
  static const Updates table = {name, Arch::profile, thimble::update_kernels<thimble::Simd<float, Arch>>,
                                thimble::update_kernels<thimble::Simd<double, Arch>>};
  return &table;
}

}  // namespace thimble_test
