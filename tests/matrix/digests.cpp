/// Trains small models for a few steps and prints the digest of their weights: one line a model, number type and
/// profile. Every compiler, optimisation level, instruction set and processor must print the same lines.

#include <cstdio>

#include "core/train/trainer.hpp"
#include "models/decoder.hpp"
#include "models/microgpt.hpp"
#include "models/mlp.hpp"

namespace thimble {

[[noreturn]] void fatal(const char* file, int line) {
  std::printf("check failed at %s:%d\n", file, line);
  __builtin_abort();
}

namespace {

#ifndef MATRIX_ARCH
#define MATRIX_ARCH Plain<Profile::fused>
#endif

constexpr int kSteps = 5;

/// Decoder widths in an MLP: odd sizes, short rows.
struct SmallMlp {
  static constexpr void build(TapeBuilder& t) {
    build_mlp(t, {.vocabulary = 19, .history = 4, .embedding = 5, .hidden = 13});
  }
};

template <class Model, class S, TrainerOptions options>
void print_digest(const char* name, const char* real, const char* profile) {
  static Trainer<Model, S, options> trainer;
  trainer.initialise(7);
  TrainOptions train;
  train.optimizer = {.kind = options.optimizer, .beta2 = 0.95, .weight_decay = 0.1, .clip = 0.5};
  train.schedule = {.kind = ScheduleKind::cosine, .peak = 1e-2, .floor = 1e-3, .warmup_steps = 2, .total_steps = kSteps};
  constexpr Extent extent = options.extent;
  for (int step = 0; step < kSteps; ++step) {
    std::int32_t tokens[std::size_t(extent.tokens())], targets[std::size_t(extent.tokens())];
    for (int i = 0; i < extent.tokens(); ++i) {
      const auto words = philox(11, std::uint64_t(step * 1000 + i));
      tokens[i] = std::int32_t(words[0] % std::uint32_t(trainer.layout().vocabulary));
      targets[i] = i % 7 == 3 ? kIgnoredTarget : std::int32_t(words[1] % std::uint32_t(trainer.layout().vocabulary));
    }
    if (trainer.accumulate(tokens, targets, extent) != Status::ok) __builtin_abort();
    if (trainer.update(train).status != Status::ok) __builtin_abort();
  }
  std::printf("%s %s %s %016llx\n", name, real, profile, static_cast<unsigned long long>(trainer.digest()));
}

template <class Arch>
void print_all(const char* profile) {
  print_digest<Microgpt, Simd<float, Arch>, TrainerOptions{.extent = {1, 16}}>("microgpt", "f32", profile);
  print_digest<Decoder, Simd<float, Arch>, TrainerOptions{.extent = {2, 9}, .recompute = "blocks"}>("decoder", "f32", profile);
  print_digest<SmallMlp, Simd<float, Arch>, TrainerOptions{.extent = {2, 7}, .optimizer = OptimizerKind::sgd}>("mlp", "f32", profile);
#ifndef MATRIX_FLOAT_ONLY
  print_digest<Decoder, Simd<double, Arch>, TrainerOptions{.extent = {2, 9}}>("decoder", "f64", profile);
#endif
}

}  // namespace
}  // namespace thimble

int main() {
  using namespace thimble;
  print_all<MATRIX_ARCH>(MATRIX_ARCH::profile == Profile::fused ? "fused" : "separate");
  return 0;
}
