#pragma once
/// A fingerprint of the functions' bits that any machine can compute.

#include <vector>

#include "core/base/digest.hpp"
#include "tests/simd/kernels.hpp"

namespace thimble_test {

/// The bits of all functions over one sample that any machine can make.
template <class real>
std::uint64_t function_digest(const Kernels<real>& set) {
  constexpr int count = 1 << 14;
  std::vector<real> x(count), y(count);
  std::uint64_t state = 1;
  for (real& v : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const real unit = real(std::int64_t(state >> 11) - (std::int64_t(1) << 52)) / real(std::int64_t(1) << 52);
    v = unit * real(1 << (state >> 3 & 7));
  }
  thimble::Digest digest;
  for (const Unary<real>& function : set.functions) {
    function.run(x.data(), y.data(), count);
    for (real v : y) digest.add(v == v ? v : real(0));
  }
  return digest.value();
}

}  // namespace thimble_test
