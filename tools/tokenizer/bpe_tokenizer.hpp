#pragma once
/// GPT-2's tokenizer: byte-level BPE.

#include <array>
#include <mutex>
#include <unordered_map>

#include "tools/tokenizer/bpe_merger.hpp"
#include "tools/tokenizer/bpe_vocabulary.hpp"
#include "tools/tokenizer/pre_tokenizer.hpp"
#include "tools/tokenizer/tokenizer.hpp"

namespace thimble {

/// decode(encode(x)) is x for every string of bytes. bos() is <|endoftext|> where the vocabulary has it; encode() does
/// not put it in front. Threads may share one: calls of encode take turns.
class BpeTokenizer : public Tokenizer {
 public:
  explicit BpeTokenizer(BpeVocabulary vocabulary);

  /// Special tokens in the text become their ids; where two could begin at one place, the longer does.
  std::vector<std::int32_t> encode(std::string_view text) const override;
  /// The same, with special tokens read as any other text.
  std::vector<std::int32_t> encode_ordinary(std::string_view text) const;
  /// `Error` for an id that is none.
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::optional<std::int32_t> bos() const override;
  std::size_t id_count() const override { return vocabulary_.tokens.size(); }
  std::string to_json() const override { return bpe_to_json(vocabulary_); }

  const BpeVocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct Word {
    std::uint32_t first, count;  // in cached_ids_
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };

  void append_ordinary(std::string_view text, std::vector<std::int32_t>& ids) const;
  void append_word(std::string_view word, std::vector<std::int32_t>& ids) const;
  const std::pair<const std::string, std::int32_t>* special_at(std::string_view text) const;

  BpeVocabulary vocabulary_;
  PreTokenizer pre_tokenizer_;
  BpeMerger merger_;
  std::vector<std::string> bytes_;            // by id
  std::array<bool, 256> begins_special_{};    // by first byte

  mutable std::mutex mutex_;  // of the cache
  mutable std::unordered_map<std::string, Word, Hash, std::equal_to<>> cache_;
  mutable std::vector<std::int32_t> cached_ids_;
};

}  // namespace thimble
