#pragma once
/// Turns text into tokens and tokens into text.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::vector<std::int32_t> encode(std::string_view prompt) const = 0;
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
  /// What stands between the text of a prompt and of what follows it.
  virtual std::string separator() const { return {}; }
  /// The token that frames documents.
  virtual std::optional<std::int32_t> bos() const { return std::nullopt; }
  /// Ids that have a meaning; the model may have room for more.
  virtual std::size_t id_count() const = 0;
  /// What stands under "tokenizer" in the metadata of a weights file; empty for plain ids.
  virtual std::string to_json() const = 0;
};

using Metadata = std::map<std::string, std::string>;

/// The tokenizer in a file's metadata. Without one, tokens are written as numbers separated by spaces.
/// `where` names the file in errors.
std::unique_ptr<Tokenizer> tokenizer_from(const Metadata& metadata, std::size_t vocabulary, const std::string& where);

/// The tokenizer for weights: that of the folder or file `given` where it is not empty; else the one in the metadata;
/// else GPT-2's files beside the weights; else plain ids.
std::unique_ptr<Tokenizer> choose_tokenizer(const std::string& given, const Metadata& metadata,
                                            const std::filesystem::path& weights, std::size_t vocabulary);

/// `Error` at `where` for a tokenizer with more ids than a model's vocabulary.
void require_room(const Tokenizer& tokenizer, std::size_t vocabulary, const std::string& where);

}  // namespace thimble
