#pragma once
/// One op with numbers to run it on, and one run of one of its implementations in guarded memory.

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/philox.hpp"
#include "core/plan/plan.hpp"
#include "tests/ops/op_case.hpp"
#include "tests/ops/worker_team.hpp"

namespace thimble_test {

using thimble::Extent;
using thimble::kMaxOperands;
using thimble::kNoValue;
using thimble::Role;
using thimble::StepKind;
using thimble::Value;
using thimble::ValueId;

/// Numbers that a float holds exactly, so that float, double and reference kernels see the same ones.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  double uniform() { return thimble::uniform(seed_, counter_++, 99); }
  /// About normal, deviation 1: the sum of twelve uniform numbers.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return float(sum);
  }
  std::int32_t below(int n) { return std::int32_t(uniform() * n); }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

/// An op and its operands. A test may change any of the numbers before it runs the op.
struct Problem {
  std::string name;
  thimble::TapeView tape;
  const void* key = nullptr;
  KernelSet<double> reference;
  Tolerance tolerance;
  std::int64_t (*scratch_bytes)(const Value&, StepKind, const thimble::PlanOptions&) = nullptr;

  Extent most;                                     ///< memory is laid out for this
  Extent run;                                      ///< the op runs on this
  std::vector<std::vector<double>> values;         ///< of operand k, [count in `most`]
  std::vector<std::vector<std::int32_t>> ids;      ///< of operand k, where it is ids
  std::vector<std::vector<double>> old_gradients;  ///< of operand k: what accumulating adds to
  std::vector<double> d_out;                       ///< the gradient of the value

  const Value& value() const { return tape[tape.size - 1]; }
  bool is_loss() const { return value().reverse == thimble::Reverse::loss; }
  int operand_count() const {
    int n = 0;
    while (n < kMaxOperands && (value().operands[std::size_t(n)] != kNoValue || n + 1 < last_operand())) ++n;
    return n;
  }
  bool has_operand(int k) const { return value().operands[std::size_t(k)] != kNoValue; }
  const Value& operand(int k) const { return tape[value().operands[std::size_t(k)]]; }
  bool is_ids(int k) const { return has_operand(k) && operand(k).role == Role::ids; }
  bool has_gradient(int k) const { return has_operand(k) && !is_ids(k); }
  /// The first operand that is the same value as operand k.
  int first_alike(int k) const {
    int first = 0;
    while (value().operands[std::size_t(first)] != value().operands[std::size_t(k)]) ++first;
    return first;
  }
  std::size_t count(const Value& v, const Extent& e) const { return std::size_t(v.shape.count(e)); }

 private:
  int last_operand() const {
    int n = kMaxOperands;
    while (n > 0 && value().operands[std::size_t(n - 1)] == kNoValue) --n;
    return n;
  }
};

namespace detail {

template <class Case>
constexpr Extent most_of() {
  if constexpr (requires { Case::extent; }) {
    return Case::extent;
  } else {
    return {2, 5};
  }
}
template <class Case>
constexpr int ids_of() {
  if constexpr (requires { Case::ids_below; }) {
    return Case::ids_below;
  } else {
    return 1;
  }
}
template <class Case>
void forward_ref(const thimble::Call<double>& call, const thimble::Worker&) {
  Case::Op::forward_ref(call, value_of<Case>.dims);
}
template <class Case>
void backward_ref(const thimble::Call<double>& call, const thimble::Worker&) {
  Case::Op::backward_ref(call, value_of<Case>.dims);
}

inline void fill(Problem& p, Random& random, int ids_below) {
  p.values.resize(kMaxOperands);
  p.ids.resize(kMaxOperands);
  p.old_gradients.resize(kMaxOperands);
  for (int k = 0; k < kMaxOperands; ++k) {
    if (!p.has_operand(k)) continue;
    const std::size_t n = p.count(p.operand(k), p.most);
    const thimble::Init init = p.operand(k).init;
    for (std::size_t i = 0; i < n; ++i) {
      if (p.is_ids(k)) {
        p.ids[std::size_t(k)].push_back(random.below(ids_below));
        continue;
      }
      const double x = random.normal();
      const bool normal = init.kind == thimble::Init::Kind::normal;
      p.values[std::size_t(k)].push_back(float(normal ? init.scale * x : init.scale + 0.3 * x));
      p.old_gradients[std::size_t(k)].push_back(random.normal());
    }
  }
  for (int k = 0; k < kMaxOperands; ++k) {
    if (p.has_operand(k)) p.values[std::size_t(k)] = p.values[std::size_t(p.first_alike(k))];
  }
  for (std::size_t i = 0; i < p.count(p.value(), p.most); ++i) p.d_out.push_back(random.normal());
}

}  // namespace detail

/// The op of a case with random numbers: activations and parameters as their Init says (constant c: near c),
/// ids below Case::ids_below.
template <class Case>
Problem problem_of(Extent run = detail::most_of<Case>(), std::uint64_t seed = 1) {
  Problem p;
  p.tape = thimble::tape_of<Case>;
  p.name = std::string(Case::Op::name.view());
  for (int k = 0; k + 1 < p.tape.size; ++k) p.name += " " + std::to_string(p.tape[k].shape.cols);
  p.key = &case_key<Case>;
  p.reference = {&detail::forward_ref<Case>, &detail::backward_ref<Case>, nullptr};
  p.tolerance = Case::tolerance;
  if constexpr (requires { &Case::Op::scratch_bytes; }) p.scratch_bytes = &Case::Op::scratch_bytes;
  p.most = detail::most_of<Case>();
  p.run = run;
  if (run.batch > p.most.batch) p.most.batch = run.batch;
  if (run.context > p.most.context) p.most.context = run.context;
  Random random(seed);
  detail::fill(p, random, detail::ids_of<Case>());
  return p;
}

/// Memory for n numbers with sixteen guard numbers on both sides, all holding a NaN that no kernel writes.
template <class real>
class Guarded {
 public:
  using Bits = thimble::BitsOf<real>;
  static constexpr Bits kCanary = sizeof(real) == 4 ? Bits(0x7FC0DEAD) : Bits(0x7FF80DEADBEEFull);

  Guarded() = default;
  /// `shift` numbers behind a multiple of 64 bytes.
  Guarded(std::size_t n, std::size_t shift) : memory_(n + 64, std::bit_cast<real>(kCanary)), n_(n) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data() + 16);
    begin_ = 16 + (64 - address % 64) % 64 / sizeof(real) + shift;
  }
  real* data() { return memory_.data() + begin_; }
  void set(std::size_t i, double x) { data()[i] = real(x); }
  /// Is everything outside the first `used` numbers as it was?
  bool untouched_beyond(std::size_t used) const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (i >= begin_ && i < begin_ + used) continue;
      if (std::bit_cast<Bits>(memory_[i]) != kCanary) return false;
    }
    return true;
  }
  std::vector<real> first(std::size_t n) const {
    return {memory_.begin() + std::ptrdiff_t(begin_), memory_.begin() + std::ptrdiff_t(begin_ + n)};
  }
  std::size_t size() const { return n_; }

 private:
  std::vector<real> memory_;
  std::size_t begin_ = 0;
  std::size_t n_ = 0;
};

/// What a run may vary.
struct Mode {
  int workers = 1;
  bool accumulate = false;  ///< gradients add to `old_gradients`
  bool share = false;       ///< operand 0's gradient lies where the value's does
  std::size_t shift = 0;    ///< numbers by which every tensor is off a multiple of 64 bytes
};

/// What a run computed: the value and the gradients of the operands (empty where there is none).
template <class real>
struct Result {
  std::vector<real> out;
  std::vector<real> saved;
  std::vector<std::vector<real>> gradients{std::size_t(kMaxOperands)};
  bool stayed_inside = true;  ///< nothing but these was written
};

/// The memory of one run of one implementation.
template <class real>
class Runner {
 public:
  Runner(const Problem& p, Mode mode) : p_(p), mode_(mode) {
    const Value& v = p.value();
    out_ = memory(p.count(v, p.most));
    saved_ = memory(std::size_t(v.saved_shape().count(p.most)));
    d_out_ = memory(p.count(v, p.most));
    for (std::size_t i = 0; i < p.count(v, p.run); ++i) d_out_.set(i, p.d_out[i]);
    for (int k = 0; k < kMaxOperands; ++k) {
      if (!p.has_gradient(k)) continue;
      operands_.push_back(memory(p.values[std::size_t(k)].size()));
      gradients_.push_back(memory(p.values[std::size_t(k)].size()));
      index_[k] = int(operands_.size()) - 1;
      const bool adds = mode.accumulate && p.first_alike(k) == k;
      for (std::size_t i = 0; i < p.count(p.operand(k), p.run); ++i) {
        operands_.back().set(i, p.values[std::size_t(k)][i]);
        if (adds) gradients_.back().set(i, p.old_gradients[std::size_t(k)][i]);
      }
    }
  }

  Result<real> run(const KernelSet<real>& kernels) {
    if (!p_.is_loss()) call(kernels.forward, StepKind::forward);
    const std::vector<real> forward_out = out_.first(p_.count(p_.value(), p_.run));
    call(kernels.backward, StepKind::backward);
    Result<real> r;
    r.out = p_.is_loss() ? out_.first(forward_out.size()) : forward_out;
    r.saved = saved_.first(std::size_t(p_.value().saved_shape().count(p_.run)));
    for (int k = 0; k < kMaxOperands; ++k) {
      if (p_.has_gradient(k) && p_.first_alike(k) == k) {
        r.gradients[std::size_t(k)] = gradient(k).first(p_.count(p_.operand(k), p_.run));
      }
    }
    r.stayed_inside = stayed_inside_;
    return r;
  }

  /// The value alone.
  std::vector<real> run_forward(const KernelSet<real>& kernels) {
    call(kernels.forward, StepKind::forward);
    return out_.first(p_.count(p_.value(), p_.run));
  }

 private:
  Guarded<real> memory(std::size_t n) const { return Guarded<real>(n, mode_.shift); }
  Guarded<real>& gradient(int k) {
    return mode_.share && p_.first_alike(k) == 0 ? d_out_ : gradients_[std::size_t(index_[k])];
  }

  void call(Kernel<real> kernel, StepKind kind) {
    const Value& v = p_.value();
    const bool backward = kind == StepKind::backward;
    const bool produces = !backward || p_.is_loss();
    thimble::Call<real> c;
    if (produces || v.needs.has_output()) c.out = out_.data();
    if (v.saved_cols > 0) c.saved = saved_.data();
    if (backward && !p_.is_loss()) c.d_out = d_out_.data();
    for (int k = 0; k < kMaxOperands; ++k) {
      if (!p_.has_operand(k)) continue;
      if (produces || v.needs.has_operand(k)) {
        c.operands[k] = p_.is_ids(k) ? static_cast<const void*>(p_.ids[std::size_t(k)].data())
                                     : operands_[std::size_t(index_[p_.first_alike(k)])].data();
      }
      if (!backward || !p_.has_gradient(k)) continue;
      c.d_operands[k] = gradient(p_.first_alike(k)).data();
      if (mode_.accumulate || p_.first_alike(k) != k) c.accumulate = std::uint8_t(c.accumulate | 1u << k);
    }
    c.extent = p_.run;
    c.rows = v.shape.rows(p_.run);
    c.scalar = v.scalar;
    Guarded<real> scratch(scratch_count(kind), 0);
    c.scratch = scratch.size() > 0 ? scratch.data() : nullptr;
    run_workers(kernel, c, mode_.workers);
    check_guards(scratch, produces);
  }

  std::size_t scratch_count(StepKind kind) const {
    if (p_.scratch_bytes == nullptr) return 0;
    const std::int64_t bytes = p_.scratch_bytes(
        p_.value(), kind, {.extent = p_.most, .workers = 3, .real_bytes = int(sizeof(real))});
    return std::size_t(bytes) / sizeof(real);
  }

  void check_guards(Guarded<real>& scratch, bool produces) {
    const Value& v = p_.value();
    bool ok = scratch.untouched_beyond(scratch.size()) && d_out_.untouched_beyond(p_.count(v, p_.run)) &&
              out_.untouched_beyond(p_.count(v, p_.run)) &&
              saved_.untouched_beyond(std::size_t(v.saved_shape().count(p_.run)));
    for (int k = 0; k < kMaxOperands; ++k) {
      if (!p_.has_gradient(k)) continue;
      const std::size_t used = p_.count(p_.operand(k), p_.run);
      ok = ok && operands_[std::size_t(index_[k])].untouched_beyond(used);
      ok = ok && gradients_[std::size_t(index_[k])].untouched_beyond(
                     produces && !p_.is_loss() && !mode_.accumulate ? 0 : used);
    }
    stayed_inside_ = stayed_inside_ && ok;
  }

  const Problem& p_;
  Mode mode_;
  Guarded<real> out_, saved_, d_out_;
  std::vector<Guarded<real>> operands_, gradients_;
  int index_[kMaxOperands] = {-1, -1, -1, -1, -1};
  bool stayed_inside_ = true;
};

template <class real>
Result<real> run(const Problem& p, const KernelSet<real>& kernels, Mode mode = {}) {
  return Runner<real>(p, mode).run(kernels);
}

}  // namespace thimble_test
