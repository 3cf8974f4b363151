#pragma once
/// Gradients as a safetensors file.

#include <filesystem>
#include <optional>

#include "tools/gradient/report.hpp"

namespace thimble {

/// Weights' gradients under the weights' names, the others as stop.NAME, influence, and the loss; all F64.
void write_gradients(const std::filesystem::path& path, const GradientReport& report,
                     const std::optional<NamedTensor>& influence);

}  // namespace thimble
