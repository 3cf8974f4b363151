#pragma once
/// The numbers of stored tensors: as F32 in memory, their extremes, their differences.

#include <memory>

#include "tools/files/tensor_file.hpp"

namespace thimble {

struct TensorStats {
  double norm = 0;         ///< of the finite values
  double min = 0, max = 0; ///< of the finite values; 0 where there are none
  std::size_t nans = 0;
  std::size_t infinities = 0;
};

TensorStats stats_of(const StoredTensor& tensor);

struct TensorDifference {
  double largest = 0;       ///< |a - b|
  double relative = 0;      ///< of the largest to b's largest magnitude
  std::size_t place = 0;    ///< where it is
  std::size_t count = 0;    ///< values that differ in their bits (as double)
};

/// Tensors of the same shape.
TensorDifference difference_of(const StoredTensor& a, const StoredTensor& b);

/// The values as F32; `keep` owns them where they had to be converted.
StoredTensor as_f32(const TensorFile& file, const StoredTensor& tensor, std::vector<float>& keep);

/// The digest of F32 and F64 tensors in order, as an engine gives it of its weights; nothing for other types.
std::optional<std::uint64_t> digest_of(const std::vector<StoredTensor>& tensors);

}  // namespace thimble
