#include "tools/files/safetensors.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "tools/files/error.hpp"
#include "tools/files/safetensors_header.hpp"

namespace thimble {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors data are read in place, little-endian");

template <class Value>
Value load(std::span<const std::byte> bytes, std::size_t index) {
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
      return walk([&](std::size_t i) { return load<float>(bytes, i); });
    case StoredType::kF64:
      return walk([&](std::size_t i) { return load<double>(bytes, i); });
    case StoredType::kF16:
      return walk([&](std::size_t i) { return float_from_half(load<std::uint16_t>(bytes, i)); });
    case StoredType::kBF16:
      return walk([&](std::size_t i) { return float_from_bfloat16(load<std::uint16_t>(bytes, i)); });
    default:
      return false;
  }
}

detail::Header read_header(std::span<const std::byte> bytes, const std::string& where,
                           std::size_t& data_begin) {
  if (bytes.size() < detail::kLengthBytes) {
    throw Error(where,
                "has only " + std::to_string(bytes.size()) + " bytes; safetensors begin with 8 for a length");
  }
  const auto length = load<std::uint64_t>(bytes, 0);
  const std::uint64_t left = bytes.size() - detail::kLengthBytes;
  if (length > detail::kMaxHeaderBytes) {
    throw Error(where, "states a header of " + std::to_string(length) + " bytes; the format allows 100000000",
                "is this a safetensors file?");
  }
  if (length > left) {
    throw Error(where, "states a header of " + std::to_string(length) + " bytes, but only " +
                           std::to_string(left) + " follow; the file is truncated or not safetensors");
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + detail::kLengthBytes;
  data_begin = detail::kLengthBytes + static_cast<std::size_t>(length);
  detail::Header header = detail::parse_header({text, static_cast<std::size_t>(length)}, where);
  detail::check_coverage(header, bytes.size() - data_begin, where);
  return header;
}

}  // namespace

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

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), file_(path) {
  std::size_t data_begin = 0;
  detail::Header header = read_header(file_.bytes(), path.string(), data_begin);
  metadata_ = std::move(header.metadata);
  tensors_.reserve(header.entries.size());
  for (detail::HeaderEntry& entry : header.entries) {
    const std::size_t begin = data_begin + static_cast<std::size_t>(entry.offsets[0]);
    const std::size_t size = static_cast<std::size_t>(entry.offsets[1] - entry.offsets[0]);
    tensors_.push_back(
        {std::move(entry.name), entry.type, std::move(entry.shape), file_.bytes().subspan(begin, size)});
    index_.emplace(tensors_.back().name, tensors_.size() - 1);
  }
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const StoredTensor& SafetensorsFile::require(std::string_view name,
                                             std::span<const std::uint64_t> shape) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr) {
    std::vector<std::string> names;
    for (const StoredTensor& other : tensors_) names.push_back(other.name);
    throw Error(path_.string(), "has no tensor " + in_quotes(name), did_you_mean(name, names));
  }
  if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(), tensor->shape.end())) {
    throw Error(path_.string(), "tensor " + in_quotes(name) + " has the shape " + shape_text(tensor->shape) +
                                    ", but the model needs " + shape_text(shape));
  }
  return *tensor;
}

template <class real>
void SafetensorsFile::read_into(const StoredTensor& tensor, std::span<real> out) const {
  const std::string named = "tensor " + in_quotes(tensor.name);
  if (out.size() != tensor.element_count()) {
    throw Error(path_.string(), named + " has " + std::to_string(tensor.element_count()) + " elements, but " +
                                    std::to_string(out.size()) + " are needed");
  }
  const bool converted = visit_floats(tensor, [&](std::size_t i, auto value) {
    const real narrowed = static_cast<real>(value);
    if (std::isinf(narrowed) && std::isfinite(value)) {
      throw Error(path_.string(), named + " has a value too large for F32 at " + place_text(tensor.shape, i),
                  "read it in double precision");
    }
    out[i] = narrowed;
    return true;
  });
  if (!converted) {
    throw Error(path_.string(), named + " is " + std::string(stored_type_name(tensor.type)) +
                                    ", which is not converted; F16, BF16, F32 and F64 are");
  }
}

template void SafetensorsFile::read_into(const StoredTensor&, std::span<float>) const;
template void SafetensorsFile::read_into(const StoredTensor&, std::span<double>) const;

std::optional<std::size_t> first_non_finite(const StoredTensor& tensor) {
  std::optional<std::size_t> first;
  visit_floats(tensor, [&](std::size_t i, auto value) {
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
