#pragma once
/// Numbers as tokens: measured ones by quantile bins, or the ids themselves. Text holds them separated by spaces.

#include "tools/data/quantile_bins.hpp"
#include "tools/tokenizer/tokenizer.hpp"

namespace thimble {

class BinTokenizer : public Tokenizer {
 public:
  explicit BinTokenizer(QuantileBins bins) : bins_(std::move(bins)) {}
  std::vector<std::int32_t> encode(std::string_view prompt) const override;
  std::string decode(std::span<const std::int32_t> tokens) const override;
  std::string separator() const override { return "\n"; }
  std::size_t id_count() const override { return bins_.bin_count(); }
  std::string to_json() const override { return bins_.to_json(); }

 private:
  QuantileBins bins_;
};

class IdTokenizer : public Tokenizer {
 public:
  explicit IdTokenizer(std::size_t vocabulary) : vocabulary_(vocabulary) {}
  std::vector<std::int32_t> encode(std::string_view prompt) const override;
  std::string decode(std::span<const std::int32_t> tokens) const override;
  std::string separator() const override { return " "; }
  std::size_t id_count() const override { return vocabulary_; }
  std::string to_json() const override { return {}; }

 private:
  std::size_t vocabulary_;
};

}  // namespace thimble
