#include "tools/files/stored_tensor.hpp"

#include <cmath>

#include "tools/files/stored_values.hpp"

namespace thimble {

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
