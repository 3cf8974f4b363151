#pragma once
/// How a kernel is told which part of its outputs to compute. Work is split over outputs, never over a sum, so the
/// number of workers does not change a bit.

#include <cstddef>
#include <cstdint>

namespace thimble {

/// A half-open range of indices.
struct Range {
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t end = 0;
  constexpr std::ptrdiff_t size() const { return end - begin; }
};

/// One of `count` workers that run the same step together. The default is the only worker.
struct Worker {
  int index = 0;
  int count = 1;
  /// Waits until all workers of the step have arrived; null where there is only one.
  void (*wait)(void* team) = nullptr;
  void* team = nullptr;

  void barrier() const {
    if (count > 1) wait(team);
  }

  /// This worker's part of 0..n, cut at multiples of `grain`.
  constexpr Range share(std::ptrdiff_t n, std::ptrdiff_t grain = 1) const {
    const std::ptrdiff_t grains = (n + grain - 1) / grain;
    const std::ptrdiff_t begin = grains * index / count * grain;
    const std::ptrdiff_t end = grains * (index + 1) / count * grain;
    return {begin < n ? begin : n, end < n ? end : n};
  }
};

/// The workers that a port offers. The default runs everything on the calling thread.
struct Team {
  int count = 1;
  /// Calls job(argument, worker) once for each worker, at the same time, and returns when all are done.
  void (*run)(void* state, void (*job)(void*, const Worker&), void* argument) = nullptr;
  void* state = nullptr;

  template <class F>
  void each(F f) const {
    if (run == nullptr) return f(Worker{});
    run(state, [](void* g, const Worker& w) { (*static_cast<F*>(g))(w); }, &f);
  }
};

}  // namespace thimble
