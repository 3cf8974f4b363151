#pragma once
/// Turns a prompt into tokens and tokens into text, as the metadata of a weights file says.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace thimble {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::vector<std::int32_t> encode(const std::string& prompt) const = 0;
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
  /// The token that frames documents.
  virtual std::optional<std::int32_t> bos() const { return std::nullopt; }
  /// Ids that have a meaning; the model may have room for more.
  virtual std::size_t id_count() const = 0;
};

/// The tokenizer in a file's metadata. Without one, tokens are written as numbers separated by spaces.
/// `where` names the file in errors.
std::unique_ptr<Tokenizer> tokenizer_from(const std::map<std::string, std::string>& metadata, std::size_t vocabulary,
                                          const std::string& where);

}  // namespace thimble
