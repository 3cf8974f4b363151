#pragma once
/// What the unit of one instruction set needs.

#include "tools/bench/sgemm/kernels.hpp"
#include "tools/model/shared_kernels.hpp"
#include "tools/model/multiply_adds.hpp"

namespace thimble {

template <class S>
SgemmKernels sgemm_kernels() {
  using enum ProductKind;
  return {{detail::run_product<S, nn>, detail::run_product<S, nt>, detail::run_product<S, tn>},
          multiply_adds<S>};
}

}  // namespace thimble
