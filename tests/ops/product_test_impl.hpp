#pragma once
/// Gives the matrix products of one instruction set to the tests. Each implementation is built in a unit of
/// its own, with its own compiler flags, and hands out nothing but function pointers.

#include "core/ops/product.hpp"

namespace thimble_test {

template <class real>
using ProductFunction = void (*)(const thimble::ProductArgs<real>&, const thimble::Worker&);

/// A product whose sizes are compile-time constants.
template <class real>
struct StaticProduct {
  int m, n, k;
  ProductFunction<real> run[3];  ///< by ProductKind
};

template <class real>
struct ProductImplementation {
  const char* name;
  thimble::Profile profile;
  ProductFunction<real> run[3];  ///< by ProductKind
  ProductFunction<real>
      packed[3];  ///< the driver of large products, whatever the size; null where there is none
  const StaticProduct<real>* statics;
  int static_count;
};

/// Null where the unit was built without the instructions it needs.
template <class real>
struct ProductImplementations {
  const ProductImplementation<real>* plain_fused();
  const ProductImplementation<real>* plain_separate();
  const ProductImplementation<real>* avx2();
  const ProductImplementation<real>* avx512();
};

template <class S, int m, int n, int k>
constexpr StaticProduct<typename S::real> static_product() {
  using enum thimble::ProductKind;
  return {m,
          n,
          k,
          {&thimble::product<S, nn, m, n, k>, &thimble::product<S, nt, m, n, k>,
           &thimble::product<S, tn, m, n, k>}};
}

template <class S>
struct ImplementationOf {
  using real = typename S::real;
  static constexpr StaticProduct<real> statics[] = {
      static_product<S, 1, 27, 16>(),  static_product<S, 16, 16, 16>(), static_product<S, 16, 64, 16>(),
      static_product<S, 7, 48, 65>(),  static_product<S, 32, 96, 33>(), static_product<S, 16, 16, 300>(),
      static_product<S, 9, 1, 5>(),    static_product<S, 2, 128, 1>(),  static_product<S, 130, 200, 260>(),
      static_product<S, 33, 513, 96>()};
  template <thimble::ProductKind kKind>
  static constexpr ProductFunction<real> packed() {
    if constexpr (thimble::detail::kIsPlain<S>) {
      return nullptr;
    } else {
      return &thimble::detail::PackedProduct<S, kKind>::run;
    }
  }
  static constexpr ProductImplementation<real> make(const char* name) {
    using enum thimble::ProductKind;
    return {name,
            S::profile,
            {&thimble::product<S, nn>, &thimble::product<S, nt>, &thimble::product<S, tn>},
            {packed<nn>(), packed<nt>(), packed<tn>()},
            statics,
            int(sizeof(statics) / sizeof(statics[0]))};
  }
};

/// The table of S, or null.
template <class S>
const ProductImplementation<typename S::real>* implementation(const char* name) {
  static constinit ProductImplementation<typename S::real> table = ImplementationOf<S>::make("");
  table.name = name;
  return &table;
}

}  // namespace thimble_test
