#pragma once
/// Hugging Face's GPT-2: the names of its files, the folder of a model.

#include <optional>

#include "models/gpt.hpp"
#include "tools/files/safetensors.hpp"

namespace thimble {

/// A GPT that GPT2LMHeadModel computes: layernorm, biases, a final norm, GELU. An Error says what is in the way, for
/// `format` and what it can hold.
struct Gpt2Limits {
  const char* format;
  bool erf_gelu = false;     ///< can it say that GELU is the exact one?
  bool untied_head = false;  ///< can it hold a head of its own?
};
GptConfig require_gpt2(const TensorFile& source, const Gpt2Limits& limits);

/// model.safetensors of such a folder, with the configuration of its config.json.
class HuggingFaceFolder : public SafetensorsFile {
 public:
  explicit HuggingFaceFolder(const std::filesystem::path& folder);
};

/// Writes config.json, model.safetensors (the head once), and vocab.json, merges.txt and
/// tokenizer_config.json where the source's tokenizer is GPT-2's: all or nothing. The folder must not exist, or be empty.
void write_hugging_face_folder(const std::filesystem::path& folder, const TensorFile& source);

/// The config.json of such a folder.
std::string hugging_face_config(const GptConfig& config, std::optional<std::int32_t> bos);

}  // namespace thimble
