#pragma once
/// The tape: a model as a list of values in the order they are computed. Memory, schedule, kernels, checkpoint
/// fields, costs and traces all derive from it.

#include <array>
#include <cstdint>

#include "core/base/name.hpp"
#include "core/tape/shape.hpp"

namespace thimble {

/// Index of a value on its tape; -1 where an optional operand is absent.
using ValueId = std::int16_t;
inline constexpr ValueId kNoValue = -1;
inline constexpr int kMaxOperands = 5;

enum class Role : std::uint8_t {
  parameter,   ///< trained; persists
  input,       ///< real numbers given from outside; has a gradient
  ids,         ///< token ids or target ids (int32); has none
  activation,  ///< the output of an op
};

/// How a parameter starts, or an input is filled: normal(0, scale), or the constant `scale`.
struct Init {
  enum class Kind : std::uint8_t { constant, normal } kind = Kind::constant;
  double scale = 0;
  static constexpr Init constant(double x) { return {Kind::constant, x}; }
  static constexpr Init normal(double deviation) { return {Kind::normal, deviation}; }
};

/// An op's static numbers; each op documents which it uses. Kernels are instantiated per distinct Dims.
struct Dims {
  std::int32_t in = 0;
  std::int32_t out = 0;
  std::int32_t heads = 0;
  std::int32_t option = 0;
  constexpr bool operator==(const Dims&) const = default;
};

/// Which forward values the backward of an op reads: bit k is operand k, and one bit is the output.
/// What the op saves for itself (statistics) is always kept with the output.
struct Needs {
  std::uint8_t bits = 0;
  static constexpr Needs nothing() { return {}; }
  static constexpr Needs operand(int k) { return {std::uint8_t(1u << k)}; }
  static constexpr Needs output() { return {std::uint8_t(1u << 7)}; }
  constexpr Needs operator|(Needs o) const { return {std::uint8_t(bits | o.bits)}; }
  constexpr bool has_operand(int k) const { return bits >> k & 1; }
  constexpr bool has_output() const { return bits >> 7; }
};

/// How the gradient passes an op.
enum class Reverse : std::uint8_t {
  step,      ///< a backward step computes every operand's gradient
  loss,      ///< as `step`, and backward also computes the value itself and starts the walk
  identity,  ///< every operand's gradient is the output's own (a sum): storage is shared where that is safe
  in_place,  ///< element by element: operand 0's gradient may overwrite the output's
};

/// One value. `op` is the hash of the name of the op that computes it (see core/ops/list.hpp).
struct Value {
  Name name;
  Role role = Role::activation;
  Reverse reverse = Reverse::step;
  std::uint32_t op = 0;
  Shape shape;
  std::array<ValueId, kMaxOperands> operands = {kNoValue, kNoValue, kNoValue, kNoValue, kNoValue};
  Dims dims;
  double scalar = 0;               ///< the op's one real constant (epsilon, scale)
  std::int32_t saved_cols = 0;     ///< columns per row of the statistics that forward leaves for backward
  std::int32_t cache_cols = 0;     ///< columns per token that are remembered while text is generated
  std::int32_t decode_cols = 0;    ///< columns of the output while text is generated, where not shape.cols
  Needs needs;                     ///< what backward reads
  std::int16_t segment = -1;       ///< block number, -1 outside the blocks
  bool boundary = false;           ///< the input of a block
  Init init;                       ///< parameters and inputs
  constexpr bool is_leaf() const { return role != Role::activation; }
  constexpr Shape saved_shape() const { return shape.with_cols(saved_cols); }
};

/// A finished tape of N values. The last value is the result: a loss, or the number whose gradient is wanted.
template <int N>
struct Tape {
  static constexpr int size = N;
  std::array<Value, N> values;
  constexpr const Value& operator[](int i) const { return values[std::size_t(i)]; }
  constexpr int find(std::string_view name) const {
    for (int i = 0; i < N; ++i) {
      if (values[std::size_t(i)].name.view() == name) return i;
    }
    return -1;
  }
};

/// A tape seen without its size, for code that is not a template over the model.
struct TapeView {
  const Value* values = nullptr;
  int size = 0;
  constexpr TapeView() = default;
  constexpr TapeView(const Value* v, int n) : values(v), size(n) {}
  template <int N>
  constexpr TapeView(const Tape<N>& t) : values(t.values.data()), size(N) {}
  constexpr const Value& operator[](int i) const { return values[i]; }
};

}  // namespace thimble
