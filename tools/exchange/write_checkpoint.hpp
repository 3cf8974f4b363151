#pragma once
/// Weights alone as a checkpoint, to begin from.

#include "tools/files/tensor_file.hpp"

namespace thimble {

/// Writes the source's tensors (F32 or F64, all of one type) as the weights of a run that has not begun. The source's
/// metadata must name the model.
void write_checkpoint(const std::filesystem::path& path, const TensorFile& source);

/// Writes them as safetensors, with the source's metadata.
void write_safetensors(const std::filesystem::path& path, const TensorFile& source);

}  // namespace thimble
