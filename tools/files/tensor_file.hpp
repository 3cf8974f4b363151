#pragma once
/// A file of named tensors, whatever its format: safetensors, a checkpoint, npz, llm.c.

#include <filesystem>
#include <map>
#include <unordered_map>

#include "tools/files/stored_tensor.hpp"

namespace thimble {

class TensorFile {
 public:
  virtual ~TensorFile() = default;
  TensorFile(TensorFile&&) = default;
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The format's name, e.g. "safetensors".
  std::string_view format() const { return format_; }

  /// In the order of the file. Their bytes live as long as this object.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

  /// Notes by key: "model", "config", "tokenizer", "step" where thimble wrote them.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Null when there is no such tensor.
  const StoredTensor* find(std::string_view name) const;

  /// The tensor, with exactly this shape; `Error` names the nearest tensor or both shapes.
  const StoredTensor& require(std::string_view name, std::span<const std::uint64_t> shape) const;

  /// Converts a floating-point tensor (F16, BF16, F32, F64) to `out`, whose size must be the element count.
  /// `Error` for other types, and for an F64 value too large for float. NaN and infinities pass: see
  /// `first_non_finite`.
  template <class real>
  void read_into(const StoredTensor& tensor, std::span<real> out) const;

 protected:
  TensorFile(std::filesystem::path path, std::string_view format) : path_(std::move(path)), format_(format) {}
  /// All tensors at once; names must differ.
  void set_tensors(std::vector<StoredTensor> tensors);
  void set_metadata(std::map<std::string, std::string> metadata) { metadata_ = std::move(metadata); }

 private:
  std::filesystem::path path_;
  std::string_view format_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::unordered_map<std::string_view, std::size_t> index_;  // views of the names in tensors_
};

}  // namespace thimble
