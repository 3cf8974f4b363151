#pragma once
/// A team of threads with cheap barriers. The calling thread is worker 0.

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/worker.hpp"

namespace thimble {

class ThreadTeam {
 public:
  /// `count` workers, pinned to processors of their own where there are enough.
  explicit ThreadTeam(int count);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// What the engine is given; valid while this object lives.
  Team team();

  /// The processors that this process may use.
  static int available();

 private:
  using Job = void (*)(void*, const Worker&);

  static void run(void* self, Job job, void* argument);
  static void wait(void* self);
  void serve(int index);
  void barrier();

  int count_;
  bool spin_;
  std::vector<std::thread> threads_;
  std::vector<int> pinned_from_;  ///< the processors that the first thread may use again afterwards
  Job job_ = nullptr;
  void* argument_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> round_{0};      ///< counts jobs
  alignas(64) std::atomic<std::int32_t> arrived_{0};     ///< workers at the barrier
  alignas(64) std::atomic<std::uint32_t> generation_{0}; ///< counts barriers
  std::atomic<bool> stop_{false};
};

}  // namespace thimble
