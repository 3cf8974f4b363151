#include "tools/tokenizer/tokenizer.hpp"

#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"
#include "tools/tokenizer/bpe_tokenizer.hpp"
#include "tools/tokenizer/byte_tokenizer.hpp"
#include "tools/tokenizer/number_tokenizers.hpp"

namespace thimble {

void require_room(const Tokenizer& tokenizer, std::size_t vocabulary, const std::string& where) {
  if (tokenizer.id_count() <= vocabulary) return;
  throw Error(where, std::to_string(tokenizer.id_count()) + " ids are more than the model's vocabulary of " +
                         std::to_string(vocabulary), "is it a file of another model?");
}

std::unique_ptr<Tokenizer> tokenizer_from(const Metadata& metadata, std::size_t vocabulary, const std::string& where) {
  const auto at = metadata.find("tokenizer");
  if (at == metadata.end()) return std::make_unique<IdTokenizer>(vocabulary);
  const std::string place = where + ", metadata 'tokenizer'";
  const auto json = nlohmann::json::parse(at->second, nullptr, false);
  const auto type = json.is_object() ? json.value("type", nlohmann::json()) : nlohmann::json();
  std::unique_ptr<Tokenizer> t;
  if (type == "bytes") t = std::make_unique<ByteTokenizer>(Symbols::from_json(at->second, place));
  if (type == "quantiles") t = std::make_unique<BinTokenizer>(QuantileBins::from_json(at->second, place));
  if (type == "gpt2") t = std::make_unique<BpeTokenizer>(bpe_from_json(at->second, place));
  if (!t) throw Error(place, "is neither a byte tokenizer nor quantile bins nor GPT-2's BPE");
  require_room(*t, vocabulary, place);
  return t;
}

std::unique_ptr<Tokenizer> choose_tokenizer(const std::string& given, const Metadata& metadata,
                                            const std::filesystem::path& weights, std::size_t vocabulary) {
  std::filesystem::path files = given;
  if (given.empty()) {
    const auto folder = weights.parent_path();
    if (metadata.contains("tokenizer") || weights.empty() || !has_bpe_files(folder)) {
      return tokenizer_from(metadata, vocabulary, weights.string());
    }
    files = folder.empty() ? "." : folder;
  }
  auto t = std::make_unique<BpeTokenizer>(load_bpe(files));
  require_room(*t, vocabulary, files.string());
  return t;
}

}  // namespace thimble
