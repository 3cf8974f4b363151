#pragma once
/// Runs a kernel on several workers at once. Threads of POSIX, not of C++: CppUTest counts `new` without a
/// lock.

#include <pthread.h>

#include "tests/ops/op_case.hpp"

namespace thimble_test {

namespace detail {
template <class real>
struct Job {
  Kernel<real> kernel;
  const thimble::Call<real>* call;
  thimble::Worker worker;

  static void* run(void* job) {
    const Job& j = *static_cast<Job*>(job);
    j.kernel(*j.call, j.worker);
    return nullptr;
  }
};
inline void wait_for_team(void* barrier) {
  pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier));
}
}  // namespace detail

/// At most 8 workers.
template <class real>
void run_workers(Kernel<real> kernel, const thimble::Call<real>& call, int count) {
  if (count == 1) return kernel(call, {});
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, unsigned(count));
  pthread_t threads[8];
  detail::Job<real> jobs[8];
  for (int i = 0; i < count; ++i) {
    jobs[i] = {kernel, &call, {i, count, &detail::wait_for_team, &barrier}};
    pthread_create(&threads[i], nullptr, &detail::Job<real>::run, &jobs[i]);
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
  pthread_barrier_destroy(&barrier);
}

}  // namespace thimble_test
