#pragma once
/// Cuts text into the pieces inside which GPT-2 merges bytes: contractions, words, numbers, punctuation, spaces.

#include <functional>
#include <string_view>

namespace thimble {

/// GPT-2's pattern, compiled once by PCRE2 (with its just-in-time compiler where the processor has one). Letters and
/// digits are as the Unicode tables of the installed PCRE2 say.
///
/// Bytes that are not well-formed UTF-8 (cut or overlong sequences, surrogates, code points above U+10FFFF) are taken
/// out first: each longest run of them is one pre-token, and the stretches between are cut as texts of their own.
class PreTokenizer {
 public:
  PreTokenizer();
  ~PreTokenizer();
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;

  /// Calls `visit` with every pre-token in order. Together they are `text`.
  void split(std::string_view text, const std::function<void(std::string_view)>& visit) const;

 private:
  void* pattern_;
};

namespace detail {

/// Length of the well-formed UTF-8 character that `text` begins with; 0 where it begins with none.
std::size_t utf8_length(std::string_view text);

}  // namespace detail
}  // namespace thimble
