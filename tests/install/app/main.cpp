/// A program of a user's own: a model of his own, an arena, two threads, a checkpoint.

#include <cstdio>
#include <cstring>

#include "core/checkpoint/training.hpp"
#include "core/train/trainer.hpp"
#include "models/gpt.hpp"
#include "ports/host/threads.hpp"

namespace {

struct Tiny {
  static constexpr void build(thimble::TapeBuilder& t) {
    thimble::build_gpt(t, {.vocabulary = 16, .context = 8, .width = 16, .heads = 2, .layers = 1});
  }
};

using Kernels = thimble::Simd<float, thimble::Plain<thimble::Profile::fused>>;
constexpr thimble::TrainerOptions kOptions{.extent = {1, 8}, .budget_bytes = 131'072};

/// A checkpoint in memory.
struct Memory {
  std::byte bytes[65536];
  std::size_t size = 0;

  thimble::ByteSink sink() {
    return {this, [](void* self, std::span<const std::byte> more) {
              auto& m = *static_cast<Memory*>(self);
              if (more.size() > sizeof m.bytes - m.size) return false;
              std::memcpy(m.bytes + m.size, more.data(), more.size());
              m.size += more.size();
              return true;
            }};
  }
  thimble::ByteSource source() {
    return {this,
            [](void* self, std::uint64_t offset, std::span<std::byte> to) {
              std::memcpy(to.data(), static_cast<Memory*>(self)->bytes + offset, to.size());
              return true;
            },
            size};
  }
};

}  // namespace

int main() {
  thimble::ThreadTeam team(1);
  static thimble::Trainer<Tiny, Kernels, kOptions> trainer(team.team());
  trainer.initialise(1);
  const std::int32_t text[] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
  double first = 0, last = 0;
  for (int step = 0; step < 100; ++step) {
    if (trainer.accumulate({text, 8}, {text + 1, 8}, {1, 8}) != thimble::Status::ok) return 1;
    last = trainer.update({.optimizer = {}, .schedule = {.peak = 1e-2}}).loss;
    if (step == 0) first = last;
  }
  static Memory memory;
  thimble::TrainingState state;
  state.model = thimble::Name("tiny");
  const std::uint64_t digest = trainer.digest();
  if (thimble::save_training(memory.sink(), trainer, state)) return 1;
  trainer.initialise(2);
  if (thimble::load_training(trainer, memory.source(), state) || trainer.digest() != digest) return 1;
  std::printf("%zu bytes, loss %.3f to %.3f\n", sizeof(trainer), first, last);
  return last < 0.1 * first ? 0 : 1;
}
