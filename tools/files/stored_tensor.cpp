#include "tools/files/stored_tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "tools/files/error.hpp"
#include "tools/files/stored_values.hpp"

namespace thimble {
namespace {

struct TypeRow {
  StoredType type;
  std::string_view name;
  std::size_t bytes;
};

constexpr TypeRow kTypes[] = {
    {StoredType::kBool, "BOOL", 1},      {StoredType::kU8, "U8", 1},          {StoredType::kI8, "I8", 1},
    {StoredType::kF8E5M2, "F8_E5M2", 1}, {StoredType::kF8E4M3, "F8_E4M3", 1}, {StoredType::kI16, "I16", 2},
    {StoredType::kU16, "U16", 2},        {StoredType::kF16, "F16", 2},        {StoredType::kBF16, "BF16", 2},
    {StoredType::kI32, "I32", 4},        {StoredType::kU32, "U32", 4},        {StoredType::kF32, "F32", 4},
    {StoredType::kI64, "I64", 8},        {StoredType::kU64, "U64", 8},        {StoredType::kF64, "F64", 8},
};

const TypeRow& type_row(StoredType type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [&](const TypeRow& row) { return row.type == type; });
}

}  // namespace

std::string_view stored_type_name(StoredType type) {
  return type_row(type).name;
}

std::optional<StoredType> stored_type_named(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::vector<std::string> stored_type_names() {
  std::vector<std::string> names;
  for (const TypeRow& row : kTypes) names.emplace_back(row.name);
  return names;
}

std::size_t stored_type_bytes(StoredType type) {
  return type_row(type).bytes;
}

std::optional<std::uint64_t> stored_bytes(std::span<const std::uint64_t> shape, StoredType type) {
  std::uint64_t count = stored_type_bytes(type);
  // A zero makes the tensor empty however large the other dimensions are.
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return 0;
  for (const std::uint64_t size : shape) {
    if (count > std::numeric_limits<std::uint64_t>::max() / size) return std::nullopt;
    count *= size;
  }
  return count;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  constexpr std::size_t kMaxShown = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size() && i < kMaxShown; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() > kMaxShown ? ", ...]" : "]");
}

std::string place_text(std::span<const std::uint64_t> shape, std::size_t index) {
  std::vector<std::uint64_t> place(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) continue;
    place[i] = index % shape[i];
    index /= shape[i];
  }
  return shape_text(place);
}

bool TensorTable::add(StoredTensor tensor) {
  if (!index_.emplace(tensor.name, tensors_.size()).second) return false;
  tensors_.push_back(std::move(tensor));
  return true;
}

const StoredTensor* TensorTable::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const StoredTensor& TensorTable::require(std::string_view name, std::span<const std::uint64_t> shape,
                                         const std::string& where) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr) {
    std::vector<std::string> names;
    for (const StoredTensor& other : tensors_) names.push_back(other.name);
    throw Error(where, "has no tensor " + in_quotes(name), did_you_mean(name, names));
  }
  if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(), tensor->shape.end())) {
    throw Error(where, "tensor " + in_quotes(name) + " has the shape " + shape_text(tensor->shape) +
                           ", but the model needs " + shape_text(shape));
  }
  return *tensor;
}

template <class real>
void convert_floats(const StoredTensor& tensor, std::span<real> out, const std::string& where) {
  const std::string named = "tensor " + in_quotes(tensor.name);
  if (out.size() != tensor.element_count()) {
    throw Error(where, named + " has " + std::to_string(tensor.element_count()) + " elements, but " +
                           std::to_string(out.size()) + " are needed");
  }
  const bool converted = detail::visit_floats(tensor, [&](std::size_t i, auto value) {
    const real narrowed = static_cast<real>(value);
    if (std::isinf(narrowed) && std::isfinite(value)) {
      throw Error(where, named + " has a value too large for F32 at " + place_text(tensor.shape, i),
                  "read it in double precision");
    }
    out[i] = narrowed;
    return true;
  });
  if (!converted) {
    throw Error(where, named + " is " + std::string(stored_type_name(tensor.type)) +
                           ", which is not converted; F16, BF16, F32 and F64 are");
  }
}

template void convert_floats(const StoredTensor&, std::span<float>, const std::string&);
template void convert_floats(const StoredTensor&, std::span<double>, const std::string&);

std::optional<std::size_t> first_non_finite(const StoredTensor& tensor) {
  std::optional<std::size_t> first;
  detail::visit_floats(tensor, [&](std::size_t i, auto value) {
    if (!std::isfinite(value)) first = i;
    return !first.has_value();
  });
  return first;
}

template <class real>
std::optional<std::size_t> first_non_finite(std::span<const real> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) return i;
  }
  return std::nullopt;
}

template std::optional<std::size_t> first_non_finite(std::span<const float>);
template std::optional<std::size_t> first_non_finite(std::span<const double>);

float float_from_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24, exact in float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t widened = exponent == 0x1f ? 0xffU : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (widened << 23) | (fraction << 13));
}

float float_from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

}  // namespace thimble
