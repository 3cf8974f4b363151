#pragma once
/// GPT-2 models in the file of llm.c: https://github.com/karpathy/llm.c (write_model in train_gpt2.py).
/// 256 int32 (magic, version, sizes), then the parameters, one kind after the other over all layers. Matrices
/// are stored [out, in]; here, as in Hugging Face's GPT-2, they are [in, out].

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/tensor_file.hpp"

namespace thimble {

/// Sizes of the model. The feed-forward layer is four times the width.
struct LlmcConfig {
  std::uint32_t context = 0;     ///< positions
  std::uint32_t vocabulary = 0;  ///< tokens
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;
  std::uint32_t width = 0;
  std::uint32_t padded_vocabulary = 0;  ///< rows of the stored wte; the writer sets it itself
};

/// An open llm.c model of version 3 (F32) or 5 (BF16). The constructor throws `Error` unless the sizes are
/// possible and the file is exactly as long as they demand. Tensors have the names of Hugging Face's GPT-2
/// (wte.weight, h.0.attn.c_attn.weight, ..., ln_f.bias) in the order of the file. Matrices are transposed
/// into memory; everything else lies in the file. The padding rows of wte are left out.
class LlmcFile : public TensorFile {
 public:
  explicit LlmcFile(const std::filesystem::path& path);

  /// The same from memory, which must outlive the object. `where` stands in messages as a path would.
  static LlmcFile from_bytes(std::span<const std::byte> bytes, const std::filesystem::path& where);

  const LlmcConfig& config() const { return config_; }

 private:
  LlmcFile(std::span<const std::byte> bytes, const std::filesystem::path& where);

  std::vector<std::vector<std::byte>> owned_;  // transposed matrices
  LlmcConfig config_;
};

/// Gives the F32 tensor of a Hugging Face name, matrices [in, out]. Its bytes must last until the next call.
using FindTensor = std::function<StoredTensor(const std::string& name)>;

/// Writes a model of version 3, whole or not at all. The vocabulary is padded with rows of zeros to a
/// multiple of 128, as llm.c does. `find` is called once for every tensor, in the order of the file; a tensor
/// of another type or shape is an `Error`. Sizes that no model has (a zero, heads that do not divide the
/// width) are `std::logic_error`.
void write_llmc(const std::filesystem::path& path, const LlmcConfig& config, const FindTensor& find);

}  // namespace thimble
