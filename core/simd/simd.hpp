#pragma once
/// What a kernel is written against: `S = Simd<real, Arch>` names the number type, the native vector and the
/// multiply-add of one instruction set and arithmetic profile.

#include "core/simd/arm.hpp"
#include "core/simd/native.hpp"
#include "core/simd/plain.hpp"

namespace thimble {

template <class R, class A>
struct Simd {
  using real = R;
  using Arch = A;
  using Vec = thimble::Vec<R, A>;
  static constexpr Profile profile = A::profile;
  static constexpr int width = Vec::width;

  /// a * b + c of single numbers with the roundings of the profile.
  static real mul_add(real a, real b, real c) { return thimble::mul_add<profile>(a, b, c); }
};

namespace detail {

/// Does the processor have vector registers (or are vectors plain C++)?
template <class S>
inline constexpr bool kHasRegisters = requires { typename S::Vec::Register; };

}  // namespace detail

}  // namespace thimble
