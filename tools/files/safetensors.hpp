#pragma once
/// Reading safetensors files: an 8-byte little-endian header length, a JSON header, the tensors' bytes.
/// Format: https://huggingface.co/docs/safetensors. Every file is taken as hostile: it is checked whole when
/// it is opened, and a tensor that can be asked for is a tensor whose bytes are there.

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/tensor_file.hpp"

namespace thimble {

/// An open safetensors file. The constructor throws `Error` unless the whole file is well-formed: header
/// length within the file and at most 100 MB, valid JSON without repeated names, known types, byte counts
/// equal to shape times type, and tensors that cover the data without gap or overlap.
class SafetensorsFile : public TensorFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  /// The same from memory, which must outlive the object. `where` stands in messages as a path would.
  static SafetensorsFile from_bytes(std::span<const std::byte> bytes, const std::filesystem::path& where);

 private:
  SafetensorsFile(std::span<const std::byte> bytes, const std::filesystem::path& where);

};

}  // namespace thimble
