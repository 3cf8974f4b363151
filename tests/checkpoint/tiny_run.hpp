#pragma once
/// A GPT with a thousand weights in training, and its checkpoints in memory.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/checkpoint/training.hpp"
#include "core/train/trainer.hpp"
#include "models/gpt.hpp"

namespace thimble_test {

using namespace thimble;

struct TinyGpt {
  static constexpr GptConfig kConfig{.vocabulary = 5, .context = 4, .width = 8, .heads = 2, .layers = 1,
                                     .head_tile = 4};
  static constexpr void build(TapeBuilder& t) { build_gpt(t, kConfig); }
};

using Bytes = std::vector<std::byte>;

inline ByteSink sink_to(Bytes& bytes) {
  return {&bytes, [](void* to, std::span<const std::byte> more) {
            auto& b = *static_cast<Bytes*>(to);
            b.insert(b.end(), more.begin(), more.end());
            return true;
          }};
}

inline ByteSource source_of(const Bytes& bytes) {
  const auto read = [](void* from, std::uint64_t offset, std::span<std::byte> to) {
    const auto& b = *static_cast<const Bytes*>(from);
    if (to.size() > b.size() || offset > b.size() - to.size()) return false;
    std::memcpy(to.data(), b.data() + offset, to.size());
    return true;
  };
  return {const_cast<Bytes*>(&bytes), read, bytes.size()};
}

/// Trains on ids drawn from the seed; every micro-batch has its number.
template <class real, OptimizerKind kind = OptimizerKind::adamw>
class TinyRun {
 public:
  static constexpr Extent kExtent{2, 4};
  using Machine = Trainer<TinyGpt, Simd<real, Plain<Profile::fused>>,
                          TrainerOptions{.extent = kExtent, .optimizer = kind}>;

  explicit TinyRun(std::uint64_t seed = 3, ScheduleKind schedule = ScheduleKind::cosine) {
    state.model = Name("tiny_gpt");
    state.seed = seed;
    state.accumulate = 3;
    state.options.optimizer = {.kind = kind, .beta2 = 0.95, .weight_decay = 0.1, .clip = 0.5};
    state.options.schedule = {schedule, 1e-2, 1e-3, 4, 100, 20};
    machine().initialise(seed);
  }

  /// One micro-batch, and the step where it ends its window.
  void go_on() {
    std::int32_t tokens[kExtent.tokens()], targets[kExtent.tokens()];
    for (int i = 0; i < kExtent.tokens(); ++i) {
      const auto words = philox(state.seed, state.data_cursor * 100 + std::uint64_t(i));
      tokens[i] = std::int32_t(words[0] % 5);
      targets[i] = words[1] % 4 == 0 ? kIgnoredTarget : std::int32_t(words[1] % 5);
    }
    if (machine().accumulate(tokens, targets, kExtent) != Status::ok) std::abort();
    ++state.data_cursor;
    state.tokens += std::uint64_t(kExtent.tokens());
    if (machine().state().window.micro_batches < state.accumulate) return;
    const std::int64_t step = machine().step();
    const UpdateResult r = machine().update(state.options);
    state.running_loss = next_running_loss(state.running_loss, step, r.loss);
  }
  void go_on(int micro_batches) {
    for (int i = 0; i < micro_batches; ++i) go_on();
  }

  Bytes save(std::span<const CheckpointNote> notes = {}) {
    Bytes bytes;
    if (save_training(sink_to(bytes), machine(), state, notes)) std::abort();
    return bytes;
  }
  Fault load(const Bytes& bytes, LoadWhat what = LoadWhat::everything) {
    return load_training(machine(), source_of(bytes), state, what);
  }
  std::uint64_t digest() { return machine().digest(); }
  Machine& machine() { return *machine_; }

  TrainingState state;

 private:
  std::unique_ptr<Machine> machine_ = std::make_unique<Machine>();
};

}  // namespace thimble_test
