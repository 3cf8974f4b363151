#pragma once
/// The host's arena: zeroed memory straight from the system, in huge pages where it offers them.

#include <cstddef>
#include <cstdint>

namespace thimble {

class HostArena {
 public:
  /// Throws std::bad_alloc where the system has not that much.
  explicit HostArena(std::int64_t bytes);
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace thimble
