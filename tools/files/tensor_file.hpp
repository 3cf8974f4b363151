#pragma once
/// A file of named tensors, whatever its format: safetensors, a checkpoint, npz, GGUF, llm.c.

#include <filesystem>
#include <map>

#include "tools/files/mapped_file.hpp"
#include "tools/files/stored_tensor.hpp"

namespace thimble {

class TensorFile {
 public:
  virtual ~TensorFile() = default;
  TensorFile(TensorFile&&) = default;
  TensorFile& operator=(TensorFile&&) = default;

  const std::filesystem::path& path() const { return path_; }
  /// The format's name, e.g. "safetensors".
  std::string_view format() const { return format_; }

  /// In the order of the file. Their bytes live as long as this object.
  const std::vector<StoredTensor>& tensors() const { return table_.tensors(); }

  /// Notes by key: "model", "config", "tokenizer", "step" where thimble wrote them.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Null when there is no such tensor.
  const StoredTensor* find(std::string_view name) const { return table_.find(name); }

  /// The tensor, with exactly this shape; `Error` names the nearest tensor or both shapes.
  const StoredTensor& require(std::string_view name, std::span<const std::uint64_t> shape) const {
    return table_.require(name, shape, path_.string());
  }

  /// See `convert_floats`.
  template <class real>
  void read_into(const StoredTensor& tensor, std::span<real> out) const {
    convert_floats(tensor, out, path_.string());
  }

 protected:
  TensorFile(std::filesystem::path path, std::string_view format) : path_(std::move(path)), format_(format) {}

  /// False, and nothing added, when there is one of this name already.
  bool add(StoredTensor tensor) { return table_.add(std::move(tensor)); }
  void set_metadata(std::map<std::string, std::string> metadata) { metadata_ = std::move(metadata); }
  /// The mapping that the tensors lie in, where this object owns it.
  void keep(MappedFile file) { file_ = std::move(file); }

 private:
  std::filesystem::path path_;
  std::string_view format_;
  std::optional<MappedFile> file_;
  TensorTable table_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace thimble
