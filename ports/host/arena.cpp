#include "ports/host/arena.hpp"

#include <sys/mman.h>

#include <new>

namespace thimble {

namespace {
constexpr std::int64_t kHugePage = 2 << 20;
}

HostArena::HostArena(std::int64_t bytes) {
  bytes_ = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* const p = mmap(nullptr, std::size_t(bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(p);
  madvise(p, std::size_t(bytes_), MADV_HUGEPAGE);
}

HostArena::~HostArena() { munmap(data_, std::size_t(bytes_)); }

}  // namespace thimble
