#pragma once
/// A case of an op: the tape that the tests of that op run on. See op_test.hpp for how to write one. Included
/// by the units that are built for one instruction set: nothing here may emit code that is not a template
/// over it.

#include <type_traits>

#include "core/ops/op.hpp"

namespace thimble_test {

/// How far a kernel may be from the reference, element by element: so many unit roundoffs (2^-24 or 2^-53) of
/// a magnitude.
struct Tolerance {
  enum class Of : std::uint8_t {
    terms,      ///< the sum of the absolute terms: the reference on absolute operands (for sums of products)
    largest,    ///< the largest number of the tensor
    pointwise,  ///< for functions of one number: |y| or min(|x|, 1), and |dy|
  };
  double forward = 0;
  double backward = 0;
  Of of = Of::largest;
  double floor =
      0;  ///< a magnitude is at least this: where a result is what terms of this size leave when they cancel
  double difference =
      1e-8;  ///< central differences of the reference against its gradient, of the largest gradient
};

template <class... Case>
struct CaseList {
  /// Calls f.template operator()<Case>() for each.
  template <class F>
  static void each(F f) {
    (f.template operator()<Case>(), ...);
  }
};

namespace detail {
template <class... A, class... B>
CaseList<A..., B...> join(CaseList<A...>, CaseList<B...>);
template <class List>
List join(List);
template <class A, class B, class... More>
auto join_all(A a, B b, More... more) {
  using Joined = decltype(join(a, b));
  if constexpr (sizeof...(More) == 0) {
    return Joined{};
  } else {
    return join_all(Joined{}, more...);
  }
}
}  // namespace detail

/// One list of all cases in the lists.
template <class... List>
using JoinedCases = decltype(detail::join_all(List{}...));

/// The op's value: the last one of the case's tape.
template <class Case>
inline constexpr const thimble::Value& value_of =
    thimble::tape_of<Case>.values[std::size_t(thimble::tape_of<Case>.size - 1)];

template <class real>
using Kernel = void (*)(const thimble::Call<real>&, const thimble::Worker&);

template <class real>
struct KernelSet {
  Kernel<real> forward = nullptr;
  Kernel<real> backward = nullptr;
  Kernel<real> decode = nullptr;
};

/// The kernels of one case, for float and double.
struct CaseKernels {
  const void* key = nullptr;
  KernelSet<float> f32;
  KernelSet<double> f64;
};

/// The kernels of all cases for one instruction set; empty where the unit was built without its instructions.
struct KernelTable {
  const CaseKernels* cases = nullptr;
  int count = 0;
};

/// Its address names the case.
template <class Case>
inline constexpr char case_key = 0;

extern const KernelTable plain_fused_kernels;
extern const KernelTable plain_separate_kernels;
extern const KernelTable avx2_kernels;
extern const KernelTable avx512_kernels;

namespace detail {

template <class Case, class S>
constexpr KernelSet<typename S::real> kernel_set() {
  using Op = typename Case::Op;
  constexpr thimble::Dims d = value_of<Case>.dims;
  static_assert(value_of<Case>.op == Op::name.hash,
                "the last value of a case must be of the op that it names");
  if constexpr (requires { &Op::template decode<S, d>; }) {
    return {Op::template forward<S, d>, Op::template backward<S, d>, Op::template decode<S, d>};
  } else {
    return {Op::template forward<S, d>, Op::template backward<S, d>, Op::template forward<S, d>};
  }
}

template <class Arch, class List>
struct TableOf;
template <class Arch, class... Case>
struct TableOf<Arch, CaseList<Case...>> {
  static constexpr CaseKernels cases[] = {{&case_key<Case>, kernel_set<Case, thimble::Simd<float, Arch>>(),
                                           kernel_set<Case, thimble::Simd<double, Arch>>()}...};
};

}  // namespace detail

template <class Arch, class... Case>
constexpr KernelTable kernel_table(CaseList<Case...>) {
  return {detail::TableOf<Arch, CaseList<Case...>>::cases, int(sizeof...(Case))};
}

}  // namespace thimble_test
