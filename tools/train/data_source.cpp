#include "tools/train/data_source.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/philox.hpp"
#include "tools/data/corpus.hpp"
#include "tools/data/csv.hpp"
#include "tools/data/documents.hpp"
#include "tools/data/quantile_bins.hpp"
#include "tools/files/error.hpp"
#include "tools/files/safetensors.hpp"
#include "tools/files/text_file.hpp"
#include "tools/tokenizer/bpe_tokenizer.hpp"
#include "tools/tokenizer/byte_tokenizer.hpp"

namespace thimble {

namespace {

CounterGenerator generator(std::uint64_t seed, Stream stream) {
  return [seed, stream](std::uint64_t counter) { return philox(seed, counter, std::uint64_t(stream))[0]; };
}

/// Random windows of one long sequence.
class CorpusSource : public DataSource {
 public:
  CorpusSource(Corpus corpus, std::map<std::string, std::string> metadata, std::optional<double> tokens_per_byte,
               const Extent& extent, std::uint64_t seed)
      : corpus_(std::move(corpus)),
        metadata_(std::move(metadata)),
        tokens_per_byte_(tokens_per_byte),
        extent_(extent),
        seed_(seed),
        draw_(generator(seed, Stream::data)) {}

  TokenBatch batch(std::uint64_t index) override {
    const std::size_t rows = std::size_t(extent_.batch);
    std::vector<std::int32_t> windows(rows * window());
    corpus_.draw_windows(windows, draw_, index * rows);
    return split(windows);
  }
  Extent extent() const override { return extent_; }

  std::size_t held_out_count() const override {
    const std::size_t rows = std::size_t(extent_.batch);
    return (corpus_.evaluation_window_count() + rows - 1) / rows;
  }
  TokenBatch held_out(std::size_t index) const override {
    const std::size_t first = index * std::size_t(extent_.batch);
    const std::size_t rows = std::min(std::size_t(extent_.batch), corpus_.evaluation_window_count() - first);
    std::vector<std::int32_t> windows(rows * window());
    for (std::size_t r = 0; r < rows; ++r) {
      corpus_.evaluation_window(first + r, std::span(windows).subspan(r * window(), window()));
    }
    return split(windows);
  }

  std::map<std::string, std::string> metadata() const override { return metadata_; }
  std::map<std::string, double> facts() const override {
    return {{"data_tokens", double(corpus_.ids().size())},
            {"data_held_out_tokens", double(corpus_.held_out().size())},
            {"unigram_entropy", corpus_.unigram_entropy()},
            {"held_out_unigram_loss", corpus_.held_out_unigram_loss()}};
  }
  std::uint64_t fingerprint() override {
    return DataFingerprint().add(corpus_.ids()).add(std::uint64_t(corpus_.held_out().size())).add(extent_).add(seed_).value();
  }
  std::optional<double> tokens_per_byte() const override { return tokens_per_byte_; }

 private:
  std::size_t window() const { return std::size_t(extent_.context) + 1; }
  TokenBatch split(const std::vector<std::int32_t>& windows) const {
    const TokenList list{1, windows.size() / window(), window(), windows};
    return batch_of(list, 0);
  }

  Corpus corpus_;
  std::map<std::string, std::string> metadata_;
  std::optional<double> tokens_per_byte_;
  Extent extent_;
  std::uint64_t seed_;
  CounterGenerator draw_;
};

/// Documents, `batch` of them in a step; shorter ones end in ignored targets.
class DocumentSource : public DataSource {
 public:
  DocumentSource(Documents documents, bool in_order, const Extent& extent, std::uint64_t seed)
      : documents_(std::move(documents)),
        order_(in_order ? DocumentOrder(documents_.count())
                        : DocumentOrder(documents_.count(), generator(seed, Stream::shuffle))),
        extent_{extent.batch, std::int32_t(std::min<std::size_t>(std::size_t(extent.context), documents_.longest() - 1))} {}

  TokenBatch batch(std::uint64_t index) override {
    std::vector<std::span<const std::int32_t>> rows;
    std::size_t longest = 0;
    for (std::int32_t r = 0; r < extent_.batch; ++r) {
      rows.push_back(documents_.tokens(order_.at(index * std::uint64_t(extent_.batch) + std::uint64_t(r))));
      longest = std::max(longest, rows.back().size());
    }
    std::vector<std::int32_t> windows(rows.size() * longest, kIgnoredTarget);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy(rows[r].begin(), rows[r].end(), windows.begin() + std::ptrdiff_t(r * longest));
    }
    return batch_of(TokenList{1, rows.size(), longest, std::move(windows)}, 0);
  }
  Extent extent() const override { return extent_; }

  std::map<std::string, std::string> metadata() const override {
    return {{"tokenizer", documents_.symbols().to_json()}};
  }
  std::map<std::string, double> facts() const override {
    return {{"documents", double(documents_.count())}, {"documents_cut", double(documents_.cut_count())}};
  }
  std::uint64_t fingerprint() override {
    DataFingerprint f;
    for (std::size_t i = 0; i < documents_.count(); ++i) f.add(documents_.tokens(order_.at(i)));
    return f.add(extent_).value();
  }

 private:
  Documents documents_;
  DocumentOrder order_;
  Extent extent_;
};

/// The steps of a list of ids, in order.
class TokenListSource : public DataSource {
 public:
  explicit TokenListSource(TokenList list) : list_(std::move(list)) {}
  TokenBatch batch(std::uint64_t index) override { return batch_of(list_, std::size_t(index)); }
  Extent extent() const override {
    return {std::int32_t(list_.row_count), std::int32_t(list_.window_length - 1)};
  }
  std::optional<std::uint64_t> batch_count() const override { return list_.step_count; }
  std::uint64_t fingerprint() override { return DataFingerprint().add(list_.ids).add(extent()).value(); }

 private:
  TokenList list_;
};

/// The BPE tokenizer that was asked for, or that the first weights come with; null where there is none.
std::unique_ptr<BpeTokenizer> bpe_tokenizer_for(const DataChoice& c, std::size_t vocabulary) {
  const std::filesystem::path weights = c.weights;
  Metadata metadata;
  if (c.tokenizer.empty() && c.weights.empty()) return nullptr;
  if (c.tokenizer.empty()) metadata = SafetensorsFile(weights).metadata();
  std::unique_ptr<Tokenizer> t = choose_tokenizer(c.tokenizer, metadata, weights, vocabulary);
  auto* const bpe = dynamic_cast<BpeTokenizer*>(t.get());
  if (bpe) static_cast<void>(t.release());
  return std::unique_ptr<BpeTokenizer>(bpe);
}

std::unique_ptr<DataSource> open_text(const DataChoice& c, const Model& m, const Extent& e, std::uint64_t seed) {
  const std::string text = read_file(c.text);
  const auto source = [&](std::vector<std::int32_t> ids, const Tokenizer& tokenizer) {
    Corpus corpus(std::move(ids), std::size_t(e.context), c.held_out, c.text);
    const auto judged = corpus.held_out().empty() ? corpus.ids() : corpus.held_out();
    const double tokens_per_byte = double(judged.size()) / double(tokenizer.decode(judged).size());
    const std::map<std::string, std::string> metadata = {{"tokenizer", tokenizer.to_json()}};
    return std::make_unique<CorpusSource>(std::move(corpus), metadata, tokens_per_byte, e, seed);
  };
  if (const auto bpe = bpe_tokenizer_for(c, std::size_t(m.vocabulary()))) return source(bpe->encode(text), *bpe);
  Symbols symbols = Symbols::of_text(text, std::size_t(m.vocabulary()), c.text);
  std::vector<std::int32_t> ids = symbols.encode(text, c.text);
  return source(std::move(ids), ByteTokenizer(std::move(symbols)));
}

std::unique_ptr<DataSource> open_csv(const DataChoice& c, const Model& m, const Extent& e, std::uint64_t seed) {
  if (c.column.empty()) throw Error("--csv", "which column?", "give --column NAME");
  const std::vector<double> values = read_csv_column(read_file(c.csv), c.column, c.csv);
  const std::string where = c.csv + ", column " + in_quotes(c.column);
  const auto trained = std::size_t(std::ceil(double(values.size()) * (1 - c.held_out)));
  const QuantileBins bins = QuantileBins::fit(std::span(values).first(trained), std::size_t(m.vocabulary()), where);
  Corpus corpus(bins.encode(values), std::size_t(e.context), c.held_out, where);
  const std::map<std::string, std::string> metadata = {{"tokenizer", bins.to_json()}};
  return std::make_unique<CorpusSource>(std::move(corpus), metadata, std::nullopt, e, seed);
}

}  // namespace

std::unique_ptr<DataSource> open_data(const DataChoice& c, const Model& m, const Extent& e, std::uint64_t seed) {
  const int named = !c.text.empty() + !c.documents.empty() + !c.csv.empty() + !c.tokens.empty();
  if (named != 1) {
    throw Error("train", named == 0 ? "no text to train on" : "more than one source of data",
                "give one of --text, --documents, --csv or --tokens");
  }
  if (!c.tokenizer.empty() && c.text.empty()) throw Error("--tokenizer", "is for --text only", "");
  if (!m.takes_tokens()) throw Error("train", m.name + " takes no tokens: it is there for grad and gradcheck", "");
  const std::size_t vocabulary = std::size_t(m.vocabulary());
  if (!c.text.empty()) return open_text(c, m, e, seed);
  if (!c.csv.empty()) return open_csv(c, m, e, seed);
  if (!c.documents.empty()) {
    Documents documents(read_file(c.documents), std::size_t(e.context), vocabulary, c.documents);
    return std::make_unique<DocumentSource>(std::move(documents), c.in_order, e, seed);
  }
  return std::make_unique<TokenListSource>(read_token_list(c.tokens, vocabulary, std::size_t(m.context_limit())));
}

}  // namespace thimble
