#pragma once
/// A GPT's configuration as text, for the metadata of weights files.

#include <map>
#include <optional>
#include <string>

#include "models/gpt.hpp"

namespace thimble {

/// {"vocabulary": 256, "context": 64, ...}, all that weights and their use depend on.
std::string gpt_config_json(const GptConfig& config);

/// The configuration under the key "config"; nothing where there is none. `where` names the file in errors.
std::optional<GptConfig> gpt_config_from(const std::map<std::string, std::string>& metadata, const std::string& where);

}  // namespace thimble
