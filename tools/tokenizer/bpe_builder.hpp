#pragma once
/// Collects a BPE vocabulary from a file and checks it.

#include <nlohmann/json_fwd.hpp>
#include <unordered_map>
#include <unordered_set>

#include "tools/tokenizer/bpe_vocabulary.hpp"

namespace thimble {

/// Call in this order: tokens, special tokens, then merges, then take(). Every fault is an `Error` at `where`.
class BpeBuilder {
 public:
  explicit BpeBuilder(std::string where) : where_(std::move(where)) {}

  void add_token(const std::string& text, const nlohmann::json& id);
  void add_special(const std::string& text, const nlohmann::json& id);
  bool has(const std::string& text) const { return ids_.contains(text); }

  /// Ends the tokens: ids without holes, all in the alphabet, all bytes there.
  void close_tokens();

  /// What follows comes from another file.
  void continue_in(const std::string& where) { where_ = where; }

  /// The merge of the tokens `left` and `right`; `place` names it in errors.
  void add_merge(const std::string& left, const std::string& right, const std::string& place);
  /// "left right".
  void add_merge_line(std::string_view line, const std::string& place);

  BpeVocabulary take() { return std::move(vocabulary_); }

 private:
  std::int32_t checked_id(const std::string& text, const nlohmann::json& id) const;
  std::int32_t ordinary_id(const std::string& text, const std::string& place) const;
  void place_token(const std::string& text, std::int32_t id);

  std::string where_;
  BpeVocabulary vocabulary_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_set<std::uint64_t> pairs_;
};

}  // namespace thimble
