#pragma once
/// The kernel sets of this build, each defined in kernels_SET.cpp. Nothing of the standard library here: the units of
/// every instruction set include it.

#include "tests/simd/kernels.hpp"

namespace thimble_test {

template <class real>
const Kernels<real>& plain_fused_kernels();
template <class real>
const Kernels<real>& plain_separate_kernels();
/// These two where THIMBLE_TEST_X86 is defined; only a processor that has the instructions may run them.
template <class real>
const Kernels<real>& avx2_kernels();
template <class real>
const Kernels<real>& avx512_kernels();

}  // namespace thimble_test
