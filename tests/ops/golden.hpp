#pragma once
/// Tensors of tests/golden/ops.safetensors, which tests/golden/make_golden.py makes with torch in double.

#include <cstring>
#include <string>
#include <vector>

#include "tools/files/safetensors.hpp"

namespace thimble_test {

namespace detail {
template <class To, class From>
std::vector<To> numbers(const thimble::StoredTensor& t) {
  std::vector<From> from(t.element_count());
  std::memcpy(from.data(), t.bytes.data(), t.bytes.size());
  return {from.begin(), from.end()};
}

template <class To>
std::vector<To> golden_numbers(const std::string& name) {
  const thimble::SafetensorsFile file(THIMBLE_SOURCE_DIR "/tests/golden/ops.safetensors");
  for (const auto& t : file.tensors()) {
    if (t.name != name) continue;
    if (t.type == thimble::StoredType::kF32) return numbers<To, float>(t);
    if (t.type == thimble::StoredType::kF64) return numbers<To, double>(t);
    if (t.type == thimble::StoredType::kI32) return numbers<To, std::int32_t>(t);
  }
  return {};
}
}  // namespace detail

/// The numbers of a tensor; none where there is no such tensor.
inline std::vector<double> golden(const std::string& name) {
  return detail::golden_numbers<double>(name);
}

/// The ids of a tensor; none where there is no such tensor.
inline std::vector<std::int32_t> golden_ids(const std::string& name) {
  return detail::golden_numbers<std::int32_t>(name);
}

}  // namespace thimble_test
