#pragma once
/// A checkpoint on its way into a file, which appears whole or not at all.

#include <vector>

#include "core/checkpoint/bytes.hpp"
#include "tools/checkpoint/fault_error.hpp"
#include "tools/files/atomic_file.hpp"

namespace thimble {

class CheckpointSink {
 public:
  explicit CheckpointSink(const std::filesystem::path& path) : file_(path) { buffer_.reserve(kBuffer); }

  ByteSink bytes() {
    return {this, [](void* self, std::span<const std::byte> bytes) {
              static_cast<CheckpointSink*>(self)->put(bytes);
              return true;  // what the disk refuses is thrown by the file
            }};
  }
  void require(const Fault& fault) const {
    if (fault) throw_fault(fault, file_.target().string());
  }
  /// Puts the file in place; its size in bytes.
  std::uint64_t commit() {
    flush();
    file_.commit();
    return written_;
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t(1) << 18;

  void put(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) flush();
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  void flush() {
    file_.write_at(written_, buffer_);
    written_ += buffer_.size();
    buffer_.clear();
  }

  AtomicFile file_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
};

}  // namespace thimble
