#include "tools/exchange/tensor_values.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/digest.hpp"
#include "tools/files/stored_values.hpp"

namespace thimble {

TensorStats stats_of(const StoredTensor& tensor) {
  TensorStats s;
  double squares = 0;
  bool first = true;
  detail::visit_floats(tensor, [&](std::size_t, auto value) {
    const double x = double(value);
    if (std::isnan(x)) {
      ++s.nans;
    } else if (std::isinf(x)) {
      ++s.infinities;
    } else {
      s.min = first ? x : std::min(s.min, x);
      s.max = first ? x : std::max(s.max, x);
      squares += x * x;
      first = false;
    }
    return true;
  });
  s.norm = std::sqrt(squares);
  return s;
}

TensorDifference difference_of(const StoredTensor& a, const StoredTensor& b) {
  TensorDifference d;
  std::vector<double> left(a.element_count());
  detail::visit_floats(a, [&](std::size_t i, auto value) {
    left[i] = double(value);
    return true;
  });
  double largest_b = 0;
  detail::visit_floats(b, [&](std::size_t i, auto value) {
    const double x = double(value);
    if (std::bit_cast<std::uint64_t>(left[i]) == std::bit_cast<std::uint64_t>(x)) {
      largest_b = std::max(largest_b, std::fabs(x));
      return true;
    }
    ++d.count;
    const double gap = std::fabs(left[i] - x);
    const bool larger = std::isnan(gap) ? !std::isnan(d.largest) : gap > d.largest;  // false after a NaN
    if (larger || d.count == 1) {
      d.largest = gap;
      d.place = i;
    }
    largest_b = std::max(largest_b, std::fabs(x));
    return true;
  });
  d.relative = largest_b > 0 ? d.largest / largest_b : d.largest;
  return d;
}

StoredTensor as_f32(const TensorFile& file, const StoredTensor& tensor, std::vector<float>& keep) {
  if (tensor.type == StoredType::kF32) return tensor;
  keep.resize(tensor.element_count());
  file.read_into(tensor, std::span(keep));
  return {tensor.name, StoredType::kF32, tensor.shape, std::as_bytes(std::span(keep))};
}

std::optional<std::uint64_t> digest_of(const std::vector<StoredTensor>& tensors) {
  Digest d;
  for (const StoredTensor& t : tensors) {
    if (t.type != StoredType::kF32 && t.type != StoredType::kF64) return std::nullopt;
    for (std::size_t i = 0; i < t.bytes.size() / 4; ++i) d.add(detail::load_value<std::uint32_t>(t.bytes, i));
  }
  return d.value();
}

}  // namespace thimble
