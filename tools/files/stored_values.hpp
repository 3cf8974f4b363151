#pragma once
/// The numbers of a stored tensor, one after another.

#include <bit>
#include <cstring>

#include "tools/files/stored_tensor.hpp"

namespace thimble::detail {

static_assert(std::endian::native == std::endian::little, "stored tensors are read in place, little-endian");

template <class Value>
Value load_value(std::span<const std::byte> bytes, std::size_t index) {
  Value value;  // memcpy: the format does not promise alignment
  std::memcpy(&value, bytes.data() + index * sizeof(Value), sizeof(Value));
  return value;
}

/// Calls `visit(index, value)` for every element of a floating-point tensor until it returns false; the value
/// is a double for F64 and a float otherwise. Returns false for a type that cannot be converted.
template <class Visit>
bool visit_floats(const StoredTensor& tensor, Visit visit) {
  const std::size_t count = tensor.element_count();
  const auto walk = [&](auto value_at) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!visit(i, value_at(i))) break;
    }
    return true;
  };
  const std::span<const std::byte> bytes = tensor.bytes;
  switch (tensor.type) {
    case StoredType::kF32:
      return walk([&](std::size_t i) { return load_value<float>(bytes, i); });
    case StoredType::kF64:
      return walk([&](std::size_t i) { return load_value<double>(bytes, i); });
    case StoredType::kF16:
      return walk([&](std::size_t i) { return float_from_half(load_value<std::uint16_t>(bytes, i)); });
    case StoredType::kBF16:
      return walk([&](std::size_t i) { return float_from_bfloat16(load_value<std::uint16_t>(bytes, i)); });
    default:
      return false;
  }
}

}  // namespace thimble::detail
