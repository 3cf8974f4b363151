#pragma once
/// Ticks spent in each op, forward and backward, and in updates within the backward pass.

#include "core/ops/list.hpp"

namespace thimble {

class OpProfile {
 public:
  struct Entry {
    std::uint32_t op = 0;  ///< key of the op's name
    std::uint64_t forward = 0;
    std::uint64_t backward = 0;
  };

  void reset() { *this = {}; }
  /// Recomputation counts as backward; generating text does not count.
  void add(const Value& value, StepKind kind, std::uint64_t ticks) {
    if (kind == StepKind::decode) return;
    Entry& e = entry_of(kind == StepKind::update ? kUpdate.hash : value.op);
    (kind == StepKind::forward ? e.forward : e.backward) += ticks;
  }
  void add_step() { ++steps_; }

  int count() const { return count_; }
  const Entry& operator[](int i) const { return entries_[i]; }
  std::uint64_t steps() const { return steps_; }

  static Name name_of(std::uint32_t op) {
    Name name = op == kUpdate.hash ? kUpdate : Name();
    Ops::visit(op, [&]<class Op>() { name = Op::name; });
    return name;
  }

 private:
  Entry& entry_of(std::uint32_t op) {
    int i = 0;
    while (i < count_ && entries_[i].op != op) ++i;
    if (i == count_ && count_ < kMost) entries_[count_++].op = op;
    return entries_[i < kMost ? i : kMost - 1];
  }

  static constexpr Name kUpdate{"update"};
  static constexpr int kMost = Ops::size + 1;

  Entry entries_[kMost] = {};
  int count_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace thimble
