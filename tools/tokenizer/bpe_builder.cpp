#include "tools/tokenizer/bpe_builder.hpp"

#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"
#include "tools/tokenizer/byte_alphabet.hpp"

namespace thimble {

namespace {

constexpr std::uint64_t kMaxIds = std::uint64_t{1} << 20;
constexpr std::size_t kMaxSpecialBytes = 256;  // encode compares so many at every position

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
}

}  // namespace

std::int32_t BpeBuilder::checked_id(const std::string& text, const nlohmann::json& id) const {
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= kMaxIds) {
    throw Error(where_, "the id of token " + in_quotes(text) + " is not a whole number from 0 to " +
                            std::to_string(kMaxIds - 1));
  }
  return id.get<std::int32_t>();
}

void BpeBuilder::place_token(const std::string& text, std::int32_t id) {
  auto& tokens = vocabulary_.tokens;
  if (text.empty()) throw Error(where_, "token " + std::to_string(id) + " is empty");
  if (std::size_t(id) >= tokens.size()) tokens.resize(std::size_t(id) + 1);
  if (!tokens[std::size_t(id)].empty()) {
    throw Error(where_, "id " + std::to_string(id) + " belongs to two tokens, " + in_quotes(tokens[std::size_t(id)]) +
                            " and " + in_quotes(text));
  }
  if (!ids_.emplace(text, id).second) throw Error(where_, "token " + in_quotes(text) + " has two ids");
  tokens[std::size_t(id)] = text;
}

void BpeBuilder::add_token(const std::string& text, const nlohmann::json& id) {
  place_token(text, checked_id(text, id));
}

void BpeBuilder::add_special(const std::string& text, const nlohmann::json& id) {
  const std::int32_t number = checked_id(text, id);
  if (text.size() > kMaxSpecialBytes) {
    throw Error(where_, "special token " + in_quotes(text) + " is longer than " + std::to_string(kMaxSpecialBytes) +
                            " bytes");
  }
  const auto known = ids_.find(text);
  if (known == ids_.end() || known->second != number) place_token(text, number);
  vocabulary_.special[text] = number;
}

void BpeBuilder::close_tokens() {
  const auto& tokens = vocabulary_.tokens;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) throw Error(where_, "no token has the id " + std::to_string(id));
    if (!vocabulary_.special.contains(tokens[id]) && !from_byte_alphabet(tokens[id])) {
      throw Error(where_, "token " + std::to_string(id) + ", " + in_quotes(tokens[id]) +
                              ", has a character outside the alphabet of byte-level BPE",
                  "is it a tokenizer of another kind?");
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const std::string& symbol = symbol_of_byte(static_cast<unsigned char>(byte));
    if (!ids_.contains(symbol) || vocabulary_.special.contains(symbol)) {
      const char c = char(byte);
      throw Error(where_, "the byte " + in_quotes({&c, 1}) + " has no token, so not every text could be encoded",
                  "byte-level BPE starts from all 256 bytes");
    }
  }
}

std::int32_t BpeBuilder::ordinary_id(const std::string& text, const std::string& place) const {
  const auto at = ids_.find(text);
  if (at == ids_.end()) throw Error(where_ + ", " + place, in_quotes(text) + " is no token of the vocabulary");
  if (vocabulary_.special.contains(text)) {
    throw Error(where_ + ", " + place, "the special token " + in_quotes(text) + " takes no part in merges");
  }
  return at->second;
}

void BpeBuilder::add_merge(const std::string& left, const std::string& right, const std::string& place) {
  const BpeMerge m{ordinary_id(left, place), ordinary_id(right, place), ordinary_id(left + right, place)};
  if (!pairs_.insert(pair_key(m.left, m.right)).second) {
    throw Error(where_ + ", " + place, "the merge of " + in_quotes(left) + " and " + in_quotes(right) +
                                           " stands in the list already");
  }
  vocabulary_.merges.push_back(m);
}

void BpeBuilder::add_merge_line(std::string_view line, const std::string& place) {
  const std::size_t space = line.find(' ');
  if (space == line.npos || line.find(' ', space + 1) != line.npos) {
    throw Error(where_ + ", " + place, in_quotes(line) + " is not two tokens with a space between");
  }
  add_merge(std::string(line.substr(0, space)), std::string(line.substr(space + 1)), place);
}

}  // namespace thimble
