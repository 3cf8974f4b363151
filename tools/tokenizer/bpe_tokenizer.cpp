#include "tools/tokenizer/bpe_tokenizer.hpp"

#include "tools/files/error.hpp"
#include "tools/tokenizer/byte_alphabet.hpp"

namespace thimble {

namespace {

// At most 8 MB or so: the words of a language occur again and again, long ones seldom.
constexpr std::size_t kCachedWords = 1 << 16;
constexpr std::size_t kCachedBytes = 32;

}  // namespace

BpeTokenizer::BpeTokenizer(BpeVocabulary vocabulary) : vocabulary_(std::move(vocabulary)), merger_(vocabulary_) {
  bytes_.reserve(vocabulary_.tokens.size());
  for (const std::string& token : vocabulary_.tokens) {
    bytes_.push_back(vocabulary_.special.contains(token) ? token : from_byte_alphabet(token).value());
  }
  for (const auto& [text, id] : vocabulary_.special) begins_special_[static_cast<unsigned char>(text[0])] = true;
}

std::vector<std::int32_t> BpeTokenizer::encode(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::int32_t> ids;
  std::size_t start = 0;  // of the ordinary text before `at`
  for (std::size_t at = 0; at < text.size();) {
    const bool possible = begins_special_[static_cast<unsigned char>(text[at])];
    const auto* const special = possible ? special_at(text.substr(at)) : nullptr;
    if (!special) {
      ++at;
      continue;
    }
    append_ordinary(text.substr(start, at - start), ids);
    ids.push_back(special->second);
    start = at += special->first.size();
  }
  append_ordinary(text.substr(start), ids);
  return ids;
}

std::vector<std::int32_t> BpeTokenizer::encode_ordinary(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::int32_t> ids;
  append_ordinary(text, ids);
  return ids;
}

/// The longest special token that `text` begins with. The map is sorted, so those that share a beginning stand
/// together; the range shrinks by a byte at a time.
const std::pair<const std::string, std::int32_t>* BpeTokenizer::special_at(std::string_view text) const {
  const std::pair<const std::string, std::int32_t>* found = nullptr;
  for (std::size_t length = 1; length <= text.size(); ++length) {
    const auto at = vocabulary_.special.lower_bound(text.substr(0, length));
    if (at == vocabulary_.special.end() || !at->first.starts_with(text.substr(0, length))) break;
    if (at->first.size() == length) found = &*at;
  }
  return found;
}

void BpeTokenizer::append_ordinary(std::string_view text, std::vector<std::int32_t>& ids) const {
  pre_tokenizer_.split(text, [&](std::string_view word) { append_word(word, ids); });
}

void BpeTokenizer::append_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (word.size() > kCachedBytes) return merger_.encode(word, ids);
  if (const auto at = cache_.find(word); at != cache_.end()) {
    const auto first = cached_ids_.begin() + at->second.first;
    ids.insert(ids.end(), first, first + at->second.count);
    return;
  }
  if (cache_.size() == kCachedWords) {
    cache_.clear();
    cached_ids_.clear();
  }
  const std::size_t before = ids.size();
  merger_.encode(word, ids);
  const Word cached{std::uint32_t(cached_ids_.size()), std::uint32_t(ids.size() - before)};
  cached_ids_.insert(cached_ids_.end(), ids.begin() + std::ptrdiff_t(before), ids.end());
  cache_.emplace(word, cached);
}

std::string BpeTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    if (id < 0 || std::size_t(id) >= bytes_.size()) {
      throw Error("token ids", "id " + std::to_string(id) + " is none of the tokenizer's " +
                                   std::to_string(bytes_.size()));
    }
    text += bytes_[std::size_t(id)];
  }
  return text;
}

std::optional<std::int32_t> BpeTokenizer::bos() const {
  const auto at = vocabulary_.special.find(kEndOfText);
  if (at == vocabulary_.special.end()) return std::nullopt;
  return at->second;
}

}  // namespace thimble
