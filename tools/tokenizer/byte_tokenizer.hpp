#pragma once
/// A text's own bytes as tokens.

#include "tools/data/symbols.hpp"
#include "tools/tokenizer/tokenizer.hpp"

namespace thimble {

/// Where the symbols have a BOS token, every prompt begins with it.
class ByteTokenizer : public Tokenizer {
 public:
  explicit ByteTokenizer(Symbols symbols) : symbols_(std::move(symbols)) {}
  std::vector<std::int32_t> encode(std::string_view prompt) const override {
    std::vector<std::int32_t> ids = symbols_.encode(prompt, "--prompt");
    if (const auto b = bos()) ids.insert(ids.begin(), *b);
    return ids;
  }
  std::string decode(std::span<const std::int32_t> tokens) const override { return symbols_.decode(tokens); }
  std::optional<std::int32_t> bos() const override { return symbols_.bos(); }
  std::size_t id_count() const override { return symbols_.id_count(); }
  std::string to_json() const override { return symbols_.to_json(); }

 private:
  Symbols symbols_;
};

}  // namespace thimble
