#pragma once
/// Bytes on their way from a receive interrupt to the program: one side puts, the other takes.

#include <cstddef>
#include <cstdint>
#include <span>

namespace thimble {

class ReceiveRing {
 public:
  /// A power of two.
  static constexpr std::uint32_t kBytes = 256;

  /// The interrupt's side.
  bool full() const { return put_ - taken_ == kBytes; }
  void put(std::byte b) {
    bytes_[put_ % kBytes] = b;
    order();
    put_ = put_ + 1;
  }

  /// The program's side: takes what has arrived, at most to.size(); returns the number.
  std::size_t take(std::span<std::byte> to) {
    std::size_t n = 0;
    while (n < to.size() && taken_ != put_) {
      order();
      to[n++] = bytes_[taken_ % kBytes];
      order();
      taken_ = taken_ + 1;
    }
    return n;
  }

 private:
  /// The compiler keeps the order of a byte and its count; one processor does so by itself.
  static void order() { asm volatile("" ::: "memory"); }

  std::byte bytes_[kBytes] = {};
  volatile std::uint32_t put_ = 0;    ///< bytes ever put, modulo 2^32
  volatile std::uint32_t taken_ = 0;  ///< bytes ever taken
};

}  // namespace thimble
