#pragma once
/// Bytes to and from a board, whatever carries them.

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

namespace thimble {

class ByteChannel {
 public:
  virtual ~ByteChannel() = default;
  /// Gives all bytes; an Error where the other side is gone.
  virtual void write(std::span<const std::byte> bytes) = 0;
  /// At most to.size() bytes; returns their number, 0 where none came within `wait`.
  virtual std::size_t read(std::span<std::byte> to, std::chrono::milliseconds wait) = 0;
  /// The time by which waiting is measured. It never goes back.
  virtual std::chrono::milliseconds now() const = 0;
  /// What the other side is called in errors.
  virtual std::string name() const { return "board"; }
};

}  // namespace thimble
