#pragma once
/// GPT-2's weights for llama.cpp (GGUF) and llm.c.

#include <memory>

#include "tools/files/tensor_file.hpp"

namespace thimble {

/// A GGUF of architecture gpt2 with the metadata and tokenizer that llama.cpp reads. The source's configuration must be
/// one that it computes.
void write_gguf(const std::filesystem::path& path, const TensorFile& source);

/// llm.c's model file: read with its configuration, written as version 3 (F32).
std::unique_ptr<TensorFile> open_llmc(const std::filesystem::path& path);
void write_llmc_file(const std::filesystem::path& path, const TensorFile& source);

}  // namespace thimble
