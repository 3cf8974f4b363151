#pragma once
/// What the generated unit of one model and one instruction set needs.

#include "tools/model/model.hpp"
#include "tools/model/multiply_adds.hpp"

namespace thimble {

template <class M, class S>
KernelTable<typename S::real> kernel_table() {
  return {kernels_of<M, S>.data(), update_kernels<S>, multiply_adds<S>};
}

}  // namespace thimble
