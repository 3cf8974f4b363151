/// A program of a user's own: a model of his own, an arena, two threads.

#include <cstdio>

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
  std::printf("%zu bytes, loss %.3f to %.3f\n", sizeof(trainer), first, last);
  return last < 0.1 * first ? 0 : 1;
}
