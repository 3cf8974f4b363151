#pragma once
/// Weights in and out of safetensors files, under the tape's names (Hugging Face's for the gpt family).

#include <filesystem>
#include <map>

#include "tools/model/session.hpp"

namespace thimble {

/// Reads every weight of the model. All or nothing: names, shapes, types and values (no NaN, no infinity) are checked
/// before the first weight changes. F16, BF16, F32 and F64 are converted. Returns the file's metadata.
template <class real>
std::map<std::string, std::string> load_weights(Session<real>& session, const std::filesystem::path& path);

/// Writes every weight, whole or not at all.
template <class real>
void save_weights(const Session<real>& session, const std::filesystem::path& path,
                  const std::map<std::string, std::string>& metadata);

}  // namespace thimble
