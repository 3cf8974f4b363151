#include "ports/host/threads.hpp"

#include <pthread.h>
#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace thimble {

namespace {

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits until `value` differs from `seen`: spins a while, then lets the system wake us.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t seen, bool spin) {
  constexpr int kSpins = 20000;  // some 0.2 ms: longer than any pause within a step of a small model
  for (int i = 0; spin && i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != seen) return;
    pause();
  }
  while (value.load(std::memory_order_acquire) == seen) value.wait(seen, std::memory_order_acquire);
}

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> r;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) r.push_back(i);
    }
  }
  return r;
}

void pin(pthread_t thread, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(thread, sizeof(set), &set);  // a refusal only costs speed
}

}  // namespace

int ThreadTeam::available() { return std::max(1, int(allowed_processors().size())); }

ThreadTeam::ThreadTeam(int count) : count_(count) {
  const std::vector<int> processors = allowed_processors();
  spin_ = count_ <= int(processors.size());
  for (int i = 1; i < count_; ++i) threads_.emplace_back([this, i] { serve(i); });
  // Where all processors are the team's: the system sometimes runs two of its threads on one. With fewer, another
  // program may have chosen the same ones.
  if (count_ > 1 && count_ == int(processors.size())) {
    pinned_from_ = processors;
    pin(pthread_self(), processors[0]);
    for (int i = 1; i < count_; ++i) pin(threads_[std::size_t(i - 1)].native_handle(), processors[std::size_t(i)]);
  }
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
  if (pinned_from_.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : pinned_from_) CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

Team ThreadTeam::team() {
  if (count_ == 1) return {};
  return {count_, run, this};
}

void ThreadTeam::run(void* self, Job job, void* argument) {
  ThreadTeam& t = *static_cast<ThreadTeam*>(self);
  t.job_ = job;
  t.argument_ = argument;
  t.round_.fetch_add(1, std::memory_order_release);
  t.round_.notify_all();
  job(argument, Worker{0, t.count_, wait, self});
  t.barrier();
}

void ThreadTeam::wait(void* self) { static_cast<ThreadTeam*>(self)->barrier(); }

void ThreadTeam::serve(int index) {
  for (std::uint32_t seen = 0;; ++seen) {
    wait_for_change(round_, seen, spin_);
    if (stop_) return;
    job_(argument_, Worker{index, count_, wait, this});
    barrier();
  }
}

void ThreadTeam::barrier() {
  const std::uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    if (!spin_) generation_.notify_all();
    return;
  }
  if (spin_) {
    int spins = 0;
    while (generation_.load(std::memory_order_acquire) == generation) {
      pause();
      if (++spins > 100000) sched_yield();  // someone else has the processor: do not hold it
    }
  } else {
    wait_for_change(generation_, generation, false);
  }
}

}  // namespace thimble
