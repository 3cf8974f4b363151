#pragma once
/// Gives the matrix products of one instruction set to the tests. Each implementation is built in a unit of
/// its own, with its own compiler flags, and hands out nothing but function pointers.

#include "core/ops/product.hpp"

namespace thimble_test {

template <class real>
using ProductFunction = void (*)(const thimble::ProductArgs<real>&, const thimble::Worker&);

template <class real>
struct ProductImplementation {
  const char* name;
  thimble::Profile profile;
  ProductFunction<real> run[3];  ///< by ProductKind
  ProductFunction<real>
      packed[3];  ///< the driver of large products, whatever the size; null where there is none
};

/// Null where the unit was built without the instructions it needs.
template <class real>
struct ProductImplementations {
  const ProductImplementation<real>* plain_fused();
  const ProductImplementation<real>* plain_separate();
  const ProductImplementation<real>* avx2();
  const ProductImplementation<real>* avx512();
};

template <class S>
struct ImplementationOf {
  using real = typename S::real;
  template <thimble::ProductKind kKind>
  static constexpr ProductFunction<real> packed() {
    if constexpr (thimble::detail::kHasRegisters<S>) {
      return &thimble::detail::PackedProduct<S, kKind>::run;
    } else {
      return nullptr;
    }
  }
  static constexpr ProductImplementation<real> make(const char* name) {
    using enum thimble::ProductKind;
    return {name,
            S::profile,
            {&thimble::product<S, nn>, &thimble::product<S, nt>, &thimble::product<S, tn>},
            {packed<nn>(), packed<nt>(), packed<tn>()}};
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
