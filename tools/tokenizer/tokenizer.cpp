#include "tools/train/tokenizer.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/data/quantile_bins.hpp"
#include "tools/data/symbols.hpp"
#include "tools/files/error.hpp"

namespace thimble {

namespace {

class ByteTokenizer : public Tokenizer {
 public:
  explicit ByteTokenizer(Symbols symbols) : symbols_(std::move(symbols)) {}
  std::vector<std::int32_t> encode(const std::string& prompt) const override {
    std::vector<std::int32_t> ids = symbols_.encode(prompt, "--prompt");
    if (const auto b = bos()) ids.insert(ids.begin(), *b);
    return ids;
  }
  std::string decode(std::span<const std::int32_t> tokens) const override { return symbols_.decode(tokens); }
  std::optional<std::int32_t> bos() const override { return symbols_.bos(); }
  std::size_t id_count() const override { return symbols_.id_count(); }

 private:
  Symbols symbols_;
};

/// Words of a prompt as numbers, each read by `id_of`; tokens written by `text_of`.
template <class Number>
std::vector<Number> numbers_in(const std::string& prompt) {
  std::istringstream in(prompt);
  std::vector<Number> numbers;
  for (std::string word; in >> word;) {
    std::istringstream one(word);
    Number n;
    if (!(one >> n) || !one.eof()) {
      throw Error("--prompt", in_quotes(word) + " is not a number", "this model reads numbers, separated by spaces");
    }
    numbers.push_back(n);
  }
  return numbers;
}

class BinTokenizer : public Tokenizer {
 public:
  explicit BinTokenizer(QuantileBins bins) : bins_(std::move(bins)) {}
  std::vector<std::int32_t> encode(const std::string& prompt) const override {
    return bins_.encode(numbers_in<double>(prompt));
  }
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::ostringstream out;
    for (std::int32_t t : tokens) out << bins_.decode(t) << "\n";
    return out.str();
  }
  std::size_t id_count() const override { return bins_.bin_count(); }

 private:
  QuantileBins bins_;
};

class IdTokenizer : public Tokenizer {
 public:
  explicit IdTokenizer(std::size_t vocabulary) : vocabulary_(vocabulary) {}
  std::vector<std::int32_t> encode(const std::string& prompt) const override {
    return numbers_in<std::int32_t>(prompt);
  }
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::ostringstream out;
    for (std::int32_t t : tokens) out << t << " ";
    return out.str();
  }
  std::size_t id_count() const override { return vocabulary_; }

 private:
  std::size_t vocabulary_;
};

}  // namespace

std::unique_ptr<Tokenizer> tokenizer_from(const std::map<std::string, std::string>& metadata, std::size_t vocabulary,
                                          const std::string& where) {
  const auto at = metadata.find("tokenizer");
  if (at == metadata.end()) return std::make_unique<IdTokenizer>(vocabulary);
  const std::string place = where + ", metadata 'tokenizer'";
  const auto json = nlohmann::json::parse(at->second, nullptr, false);
  const std::string type = json.is_object() ? json.value("type", "") : "";
  std::unique_ptr<Tokenizer> t;
  if (type == "bytes") t = std::make_unique<ByteTokenizer>(Symbols::from_json(at->second, place));
  if (type == "quantiles") t = std::make_unique<BinTokenizer>(QuantileBins::from_json(at->second, place));
  if (!t) throw Error(place, "is neither a byte tokenizer nor quantile bins", "");
  if (t->id_count() > vocabulary) {
    throw Error(place, std::to_string(t->id_count()) + " ids are more than the model's vocabulary of " +
                           std::to_string(vocabulary), "is it a file of another model?");
  }
  return t;
}

}  // namespace thimble
