#pragma once
/// What a model's `build` function writes its values with. Wrong shapes stop the compiler in words.

#include "core/tape/tape.hpp"

namespace thimble {

/// Not constexpr on purpose: reaching it while a tape is built is a compile error, whose text the compiler quotes.
inline void model_error(const char* /*what to mend*/) {}

constexpr void require(bool condition, const char* message) {
  if (!condition) model_error(message);
}

class TapeBuilder {
 public:
  static constexpr int kCapacity = 512;

  /// A trained tensor. Matrices (rank 2) take weight decay, others do not.
  constexpr ValueId parameter(Name name, Shape shape, Init init) {
    return leaf(name, Role::parameter, shape, init);
  }
  /// Real numbers from outside.
  constexpr ValueId input(Name name, Shape shape, Init init) { return leaf(name, Role::input, shape, init); }
  /// Token ids [B, T].
  constexpr ValueId ids(Name name) { return leaf(name, Role::ids, Shape::per_token(1), {}); }

  /// The values until the next call belong to block `number`, whose input is `input`.
  constexpr void begin_block(int number, ValueId input) {
    segment_ = std::int16_t(number);
    value(input).boundary = true;
  }
  constexpr void end_blocks(ValueId output) {
    segment_ = -1;
    value(output).boundary = true;
  }

  /// Appends the output of an op.
  constexpr ValueId add(Value v) {
    require(size_ < kCapacity, "a tape holds at most TapeBuilder::kCapacity values");
    require(find(v.name) == kNoValue, "every value needs a name of its own");
    v.segment = segment_;
    values_[std::size_t(size_)] = v;
    return ValueId(size_++);
  }

  constexpr Value& value(ValueId id) {
    require(id >= 0 && id < size_, "an operand must be a value that stands earlier on the tape");
    return values_[std::size_t(id)];
  }
  constexpr const Shape& shape(ValueId id) { return value(id).shape; }
  constexpr int size() const { return size_; }
  constexpr const Value& operator[](int i) const { return values_[std::size_t(i)]; }

 private:
  constexpr ValueId leaf(Name name, Role role, Shape shape, Init init) {
    Value v;
    v.name = name;
    v.role = role;
    v.shape = shape;
    v.init = init;
    require(shape.cols > 0 && shape.fixed_rows > 0, "a tensor needs at least one row and one column");
    const std::int16_t segment = segment_;
    const ValueId id = add(v);
    segment_ = segment;
    return id;
  }
  constexpr ValueId find(const Name& name) const {
    for (int i = 0; i < size_; ++i) {
      if (values_[std::size_t(i)].name == name) return ValueId(i);
    }
    return kNoValue;
  }

  std::array<Value, kCapacity> values_ = {};
  int size_ = 0;
  std::int16_t segment_ = -1;
};

namespace detail {
template <class Model>
consteval int tape_size() {
  TapeBuilder t;
  Model::build(t);
  return t.size();
}
template <class Model>
consteval auto make_tape() {
  TapeBuilder t;
  Model::build(t);
  Tape<tape_size<Model>()> r = {};
  for (int i = 0; i < r.size; ++i) r.values[std::size_t(i)] = t[i];
  return r;
}
}  // namespace detail

/// The tape of a model: a type with `static constexpr void build(TapeBuilder&)`.
template <class Model>
inline constexpr auto tape_of = detail::make_tape<Model>();

}  // namespace thimble
