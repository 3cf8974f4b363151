#pragma once
/// Gives the vectors of one instruction set to the tests, as plain function pointers. Each set is built in a
/// unit of its own with its own compiler flags, so nothing of the standard library may be instantiated here.

#include "core/simd/functions.hpp"

namespace thimble_test {

/// f of n numbers each; the arrays may overlap only if they are the same.
template <class real>
struct Unary {
  const char* name;
  void (*run)(const real* x, real* out, std::ptrdiff_t n);
};
template <class real>
struct Binary {
  const char* name;
  void (*run)(const real* x, const real* y, real* out, std::ptrdiff_t n);
};

template <class real>
struct Kernels {
  const char* name;
  thimble::Profile profile;
  int width;
  Unary<real> functions[4];  ///< exp, log, tanh, erf, over rows of any length
  Unary<real> unary[7];      ///< operations of native vectors; n is a multiple of 16
  Binary<real> binary[12];
  void (*mul_add)(const real* x, const real* y, const real* z, real* out, std::ptrdiff_t n);
  real (*row_sum)(const real* x, std::ptrdiff_t n);
  real (*row_dot)(const real* x, const real* y, std::ptrdiff_t n);
  real (*row_max)(const real* x, std::ptrdiff_t n);
  /// (x - y)^2 summed: terms that are not zero beyond the row.
  real (*row_distance)(const real* x, real y, std::ptrdiff_t n);
  /// A little of everything that sixteen lanes can do.
  void (*medley)(const real* x, const real* y, real* out, std::ptrdiff_t n);
};

namespace detail {

template <class S, class F>
void run_rows(const typename S::real* x, typename S::real* out, std::ptrdiff_t n) {
  thimble::for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA { at.store(out, F{}(at.load(x))); });
}
template <class S, class F>
void run_vectors(const typename S::real* x, typename S::real* out, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; i += S::width) F{}(S::Vec::load(x + i)).store(out + i);
}
template <class S, class F>
void run_vectors(const typename S::real* x, const typename S::real* y, typename S::real* out,
                 std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; i += S::width)
    F{}(S::Vec::load(x + i), S::Vec::load(y + i)).store(out + i);
}

template <class S>
struct Rows {
  const char* name;
  template <class F>
  constexpr Unary<typename S::real> operator=(F) const {
    return {name, run_rows<S, F>};
  }
};
template <class S>
struct Vectors {
  const char* name;
  template <class F>
  constexpr Unary<typename S::real> operator=(F) const {
    return {name, run_vectors<S, F>};
  }
};
template <class S>
struct Pairs {
  const char* name;
  template <class F>
  constexpr Binary<typename S::real> operator=(F) const {
    return {name, run_vectors<S, F>};
  }
};

template <class S>
void medley(const typename S::real* x, const typename S::real* y, typename S::real* out, std::ptrdiff_t n) {
  using L = thimble::Lanes<S>;
  thimble::for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA {
    const L a = at.load(x), b = at.load(y, 2);
    const L sum = a + L::broadcast(1) / (absolute(b) + L::broadcast(1));
    const L root = square_root(absolute(a - b)) * -b;
    const L clipped = maximum(minimum(mul_add(a, b, root), L::broadcast(100)), L::broadcast(-100));
    const L chosen = select(a < b, sum, select(b <= L::zero(), clipped, copy_sign(root, a)));
    at.store(out, at.zero_others(select(is_nan(chosen), L::broadcast(7), chosen)));
  });
}

}  // namespace detail

template <class S>
Kernels<typename S::real> kernels(const char* name) {
  using real = typename S::real;
  using V = typename S::Vec;
  using detail::Pairs, detail::Rows, detail::Vectors;
  return {
      .name = name,
      .profile = S::profile,
      .width = S::width,
      .functions = {Rows<S>{"exp"} = [](auto x) { return exp(x); },
                    Rows<S>{"log"} = [](auto x) { return log(x); },
                    Rows<S>{"tanh"} = [](auto x) { return tanh(x); },
                    Rows<S>{"erf"} = [](auto x) { return erf(x); }},
      .unary = {Vectors<S>{"square_root"} = [](V x) { return square_root(x); },
                Vectors<S>{"absolute"} = [](V x) { return absolute(x); },
                Vectors<S>{"-"} = [](V x) { return -x; },
                Vectors<S>{"is_nan"} =
                    [](V x) { return select(is_nan(x), V::broadcast(1), V::broadcast(0)); },
                Vectors<S>{"pow2"} = [](V x) { return pow2(x); },
                Vectors<S>{"exponent_of"} = [](V x) { return exponent_of(x); },
                Vectors<S>{"mantissa_of"} = [](V x) { return mantissa_of(x); }},
      .binary = {Pairs<S>{"+"} = [](V x, V y) { return x + y; },
                 Pairs<S>{"-"} = [](V x, V y) { return x - y; },
                 Pairs<S>{"*"} = [](V x, V y) { return x * y; },
                 Pairs<S>{"/"} = [](V x, V y) { return x / y; },
                 Pairs<S>{"maximum"} = [](V x, V y) { return maximum(x, y); },
                 Pairs<S>{"minimum"} = [](V x, V y) { return minimum(x, y); },
                 Pairs<S>{"copy_sign"} = [](V x, V y) { return copy_sign(x, y); },
                 Pairs<S>{"<"} = [](V x, V y) { return select(x < y, V::broadcast(1), V::broadcast(0)); },
                 Pairs<S>{"<="} = [](V x, V y) { return select(x <= y, V::broadcast(1), V::broadcast(0)); },
                 Pairs<S>{"select"} = [](V x, V y) { return select(x < y, y, x); },
                 Pairs<S>{"sum_across"} = [](V x, V y) { return V::broadcast((x + y).sum_across()); },
                 Pairs<S>{"scale"} = [](V x, V y) { return scale(x, y); }},
      .mul_add =
          [](const real* x, const real* y, const real* z, real* out, std::ptrdiff_t n) {
            for (std::ptrdiff_t i = 0; i < n; i += S::width) {
              mul_add(V::load(x + i), V::load(y + i), V::load(z + i)).store(out + i);
            }
          },
      .row_sum = thimble::row_sum<S>,
      .row_dot = thimble::row_dot<S>,
      .row_max = thimble::row_max<S>,
      .row_distance =
          [](const real* x, real y, std::ptrdiff_t n) {
            auto sum = thimble::Lanes<S>::zero();
            thimble::for_lanes<S>(n, [&](auto at) THIMBLE_INLINE_LAMBDA {
              const auto d = at.zero_others(at.load(x) - thimble::Lanes<S>::broadcast(y));
              sum = mul_add(d, d, sum);
            });
            return sum.sum();
          },
      .medley = detail::medley<S>,
  };
}

}  // namespace thimble_test
