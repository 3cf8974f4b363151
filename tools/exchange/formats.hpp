#pragma once
/// The formats of weights files: found by a file's first bytes when read, by a name or an ending when written.

#include <memory>

#include "tools/files/tensor_file.hpp"

namespace thimble {

struct WeightsFormat {
  std::string name;         ///< of --to
  std::string ending;       ///< of its files, with the dot; empty for a folder
  std::string description;
  bool (*recognises)(std::span<const std::byte> first_bytes);  ///< null where it is only written
  std::unique_ptr<TensorFile> (*open)(const std::filesystem::path&);
  /// Writes all weights of `source`, whole or not at all.
  void (*write)(const std::filesystem::path&, const TensorFile& source);  ///< null where it is only read
};

const std::vector<WeightsFormat>& weights_formats();

/// The format that a file's first bytes are of; null where there is none, or no file.
const WeightsFormat* recognised_format(const std::filesystem::path& path);

/// Opens a weights file of any format, or a Hugging Face folder with its model.safetensors.
std::unique_ptr<TensorFile> open_weights(const std::filesystem::path& path);

/// The format of that name, or of that file's ending; an Error that lists them otherwise.
const WeightsFormat& format_named(const std::string& name);
const WeightsFormat& format_of(const std::filesystem::path& path);

}  // namespace thimble
