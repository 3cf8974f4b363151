// Every small damage of a small file: what a reader of files from outside must survive.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/error.hpp"
#include "tools/files/stored_tensor.hpp"

namespace thimble::test {

/// Opens `contents` by `open(bytes)`, which returns the reader, and touches every byte of its tensors. True
/// when it was refused with an Error; any other exception, also for a tensor whose bytes are not its shape's,
/// fails the test. The bytes lie alone on the heap, so that AddressSanitizer sees reads past them.
template <class Open>
bool refused(std::string_view contents, Open open) {
  const std::vector<char> alone(contents.begin(), contents.end());
  try {
    const auto file = open(std::as_bytes(std::span(alone)));
    std::size_t sum = 0;
    std::size_t byte_count = 0;
    for (const StoredTensor& tensor : file.tensors()) {
      if (stored_bytes(tensor.shape, tensor.type) != tensor.bytes.size()) {
        throw std::logic_error("a tensor whose bytes are not those of its shape");
      }
      byte_count += tensor.bytes.size();
      for (const std::byte byte : tensor.bytes) sum += std::to_integer<std::size_t>(byte);
    }
    return sum > 255 * byte_count;  // false, but only known after every byte is read
  } catch (const Error&) {
    return true;
  }
}

/// How many proper beginnings of `good` are refused.
template <class Open>
std::size_t refused_truncations(const std::string& good, Open open) {
  std::size_t count = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    count += refused(std::string_view(good).substr(0, size), open);
  }
  return count;
}

/// How many files are refused that differ from `good` in one byte: each bit turned, all bits turned, and the
/// extreme values 0, 0x7f and 0xff set.
template <class Open>
std::size_t refused_changes(const std::string& good, Open open) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    const auto old = static_cast<unsigned char>(good[i]);
    std::vector<unsigned> values = {old ^ 0xffU, 0, 0x7f, 0xff};
    for (unsigned bit = 0; bit < 8; ++bit) values.push_back(old ^ (1U << bit));
    for (const unsigned value : values) {
      if (value == old) continue;
      std::string bad = good;
      bad[i] = static_cast<char>(value);
      count += refused(bad, open);
    }
  }
  return count;
}

}  // namespace thimble::test
