#include "tools/files/tensor_file.hpp"

#include <algorithm>
#include <cmath>

#include "tools/files/error.hpp"
#include "tools/files/stored_values.hpp"

namespace thimble {

void TensorFile::set_tensors(std::vector<StoredTensor> tensors) {
  tensors_ = std::move(tensors);
  index_.clear();
  for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

const StoredTensor* TensorFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const StoredTensor& TensorFile::require(std::string_view name,
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
void TensorFile::read_into(const StoredTensor& tensor, std::span<real> out) const {
  const std::string named = "tensor " + in_quotes(tensor.name);
  if (out.size() != tensor.element_count()) {
    throw Error(path_.string(), named + " has " + std::to_string(tensor.element_count()) + " elements, but " +
                                    std::to_string(out.size()) + " are needed");
  }
  const bool converted = detail::visit_floats(tensor, [&](std::size_t i, auto value) {
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

template void TensorFile::read_into(const StoredTensor&, std::span<float>) const;
template void TensorFile::read_into(const StoredTensor&, std::span<double>) const;

}  // namespace thimble
