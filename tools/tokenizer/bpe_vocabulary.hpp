#pragma once
/// The vocabulary of a byte-level BPE tokenizer, and the files it comes in.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// Two neighbours that become one token.
struct BpeMerge {
  std::int32_t left = 0;
  std::int32_t right = 0;
  std::int32_t result = 0;
};

/// Ids are 0 to tokens.size() - 1 without a hole, and every one of the 256 bytes has a token.
struct BpeVocabulary {
  std::vector<std::string> tokens;  ///< by id, in the byte alphabet; a special token as its own text
  std::vector<BpeMerge> merges;     ///< by rank: the first is the most urgent
  std::map<std::string, std::int32_t, std::less<>> special;  ///< tokens that text is searched for before anything else

  /// "left right" by rank, in the byte alphabet, as merges.txt and GGUF hold them.
  std::vector<std::string> merge_lines() const;
};

/// The token that stands between documents, where a vocabulary has it.
inline constexpr const char* kEndOfText = "<|endoftext|>";

/// All readers below throw `Error` at `where` (line or entry included) for bad JSON or UTF-8, ids that are missing,
/// repeated, negative or above 2^20, tokens outside the byte alphabet, bytes without a token, merges that name unknown
/// or special tokens or that come twice, and for settings that GPT-2's tokenizer does not have.

/// A folder with tokenizer.json, or with vocab.json and merges.txt; or one of those files.
BpeVocabulary load_bpe(const std::filesystem::path& path);

/// Whether load_bpe would find files in that folder.
bool has_bpe_files(const std::filesystem::path& folder);

/// Contents of vocab.json and merges.txt. <|endoftext|> is special where it is a token.
BpeVocabulary bpe_from_vocab_and_merges(std::string_view vocab, std::string_view merges, const std::string& vocab_where,
                                        const std::string& merges_where);

/// Contents of a Hugging Face tokenizer.json of the model BPE with the byte-level pre-tokenizer.
BpeVocabulary bpe_from_tokenizer_json(std::string_view text, const std::string& where);

/// What bpe_to_json wrote.
BpeVocabulary bpe_from_json(std::string_view text, const std::string& where);

/// {"type":"gpt2","tokens":[...],"merges":["a b",...],"special":{"<|endoftext|>":50256}}: fit for the metadata of a
/// weights file, which then needs no other.
std::string bpe_to_json(const BpeVocabulary& vocabulary);

/// The vocabulary in a weights file's metadata; nothing where its tokenizer is of another kind.
std::optional<BpeVocabulary> bpe_from_metadata(const std::map<std::string, std::string>& metadata,
                                               const std::string& where);

/// Contents of the files vocab.json and merges.txt.
std::string vocab_json_of(const BpeVocabulary& vocabulary);
std::string merges_txt_of(const BpeVocabulary& vocabulary);

}  // namespace thimble
