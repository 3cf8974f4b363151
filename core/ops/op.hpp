#pragma once
/// What an op is, and what its kernels are called with.
///
/// An op is a struct in a header of its own, listed in core/ops/list.hpp:
///   name                     how a tape refers to it
///   flops(value, extent)     floating-point operations of forward and of backward
///   scratch_bytes(...)       optional: what a step needs beside its tensors
///   forward_ref, backward_ref   plain loops in double: the reference
///   forward, backward        the kernels, templates on Simd and Dims
///   decode                   optional: forward of one token after `position` earlier ones
/// and a function of the same name in lower case that appends the op to a tape (shape rule, what backward needs).
///
/// Gradient rule: backward overwrites a gradient of operand k, or adds to it where call.adds_to(k).
/// Every worker of a step calls the same kernel and computes its share of the outputs.

#include "core/base/ids.hpp"
#include "core/base/worker.hpp"
#include "core/simd/simd.hpp"
#include "core/tape/builder.hpp"
#include "core/tape/walk.hpp"

namespace thimble {

/// The tensors of one kernel call. Pointers are null where a step has no such tensor.
template <class real>
struct Call {
  using Real = real;

  real* out = nullptr;                      ///< the op's value
  real* saved = nullptr;                    ///< statistics from forward for backward
  const real* d_out = nullptr;              ///< gradient of the value
  void* scratch = nullptr;                  ///< scratch_bytes() of it
  real* cache = nullptr;                    ///< decode: cache_cols for each of the earlier tokens, and room for more
  const void* operands[kMaxOperands] = {};  ///< values of the operands
  real* d_operands[kMaxOperands] = {};      ///< gradients of the operands
  Extent extent;                            ///< this run's batch and context
  std::ptrdiff_t rows = 0;                  ///< rows of the op's value in this run
  std::int32_t position = 0;                ///< decode: number of earlier tokens
  std::uint8_t accumulate = 0;
  double scalar = 0;                        ///< the op's constant

  const real* in(int k) const { return static_cast<const real*>(operands[k]); }
  const std::int32_t* ids(int k) const { return static_cast<const std::int32_t*>(operands[k]); }
  real* d_in(int k) const { return d_operands[k]; }
  bool adds_to(int k) const { return accumulate >> k & 1; }
};

/// Floating-point operations (a multiply-add counts as two).
struct Flops {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
};

/// Stands in a kernel table's place of Simd for the reference kernels.
struct Reference {
  using real = double;
};

/// `value` with the tensors of an op filled in by `make`.
constexpr Value op_value(const Name& op, Name name, Shape shape, std::initializer_list<ValueId> operands) {
  Value v;
  v.name = name;
  v.op = op.hash;
  v.shape = shape;
  int k = 0;
  for (ValueId o : operands) v.operands[std::size_t(k++)] = o;
  return v;
}

}  // namespace thimble
