#pragma once
/// The functions of core/simd applied to arrays, as one table for each kernel set, so that tests run them all.

#include "core/simd/functions.hpp"

namespace thimble {

template <class real>
struct FunctionSet {
  using Map = void (*)(const real* x, real* y, std::size_t count);
  Map exp;
  Map log;
  Map tanh;
  Map erf;
  Map square_root;
  void (*mul_add)(const real* a, const real* b, const real* c, real* y, std::size_t count);
  real (*sum)(const real* x, std::int64_t count);
  real (*dot)(const real* x, const real* y, std::int64_t count);
};

/// Each kernel set's table; defined in functions_SET.cpp.
template <class real>
const FunctionSet<real>& plain_functions();
template <class real>
const FunctionSet<real>& separate_functions();
template <class real>
const FunctionSet<real>& avx2_functions();
template <class real>
const FunctionSet<real>& avx512_functions();

template <class S>
struct FunctionsOf {
  using real = typename S::real;
  using Vec = typename S::Vec;

  template <class F>
  static void map(const real* x, real* y, std::size_t count, F f) {
    for (std::size_t i = 0; i < count; i += std::size_t(S::width)) {
      const int n = int(std::min<std::size_t>(count - i, std::size_t(S::width)));
      f(Vec::load_first(x + i, n)).store_first(y + i, n);
    }
  }

  static constexpr FunctionSet<real> set = {
      [](const real* x, real* y, std::size_t n) { map(x, y, n, [](Vec v) { return thimble::exp(v); }); },
      [](const real* x, real* y, std::size_t n) { map(x, y, n, [](Vec v) { return thimble::log(v); }); },
      [](const real* x, real* y, std::size_t n) { map(x, y, n, [](Vec v) { return thimble::tanh(v); }); },
      [](const real* x, real* y, std::size_t n) { map(x, y, n, [](Vec v) { return thimble::erf(v); }); },
      [](const real* x, real* y, std::size_t n) { map(x, y, n, [](Vec v) { return square_root(v); }); },
      [](const real* a, const real* b, const real* c, real* y, std::size_t n) {
        for (std::size_t i = 0; i < n; i += std::size_t(S::width)) {
          const int m = int(std::min<std::size_t>(n - i, std::size_t(S::width)));
          mul_add(Vec::load_first(a + i, m), Vec::load_first(b + i, m), Vec::load_first(c + i, m))
              .store_first(y + i, m);
        }
      },
      [](const real* x, std::int64_t n) { return row_sum<S>(x, n); },
      [](const real* x, const real* y, std::int64_t n) { return row_dot<S>(x, y, n); },
  };
};

}  // namespace thimble
