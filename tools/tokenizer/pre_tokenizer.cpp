#include "tools/tokenizer/pre_tokenizer.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace thimble {

namespace {

/// Unicode's White_Space, spelled out: PCRE2's own \s has U+180E too.
#define THIMBLE_SPACES \
  "\\x09-\\x0d\\x20\\x85\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"

/// The alternatives of OpenAI's GPT-2 encoder; a run of spaces leaves its last one to the word that follows.
constexpr const char* kPattern =
    "'(?:[sdmt]|ll|ve|re)"
    "| ?\\p{L}++"
    "| ?\\p{N}++"
    "| ?[^" THIMBLE_SPACES "\\p{L}\\p{N}]++"
    "|[" THIMBLE_SPACES "]+(?![^" THIMBLE_SPACES "])"
    "|[" THIMBLE_SPACES "]++";

#undef THIMBLE_SPACES

[[noreturn]] void fail(const char* what, int code) {
  PCRE2_UCHAR text[120];
  pcre2_get_error_message(code, text, sizeof(text));
  throw std::logic_error(std::string(what) + ": " + reinterpret_cast<const char*>(text));
}

struct FreeMatch {
  void operator()(pcre2_match_data* m) const { pcre2_match_data_free(m); }
};
using MatchData = std::unique_ptr<pcre2_match_data, FreeMatch>;

/// Pre-tokens of well-formed UTF-8. Every character belongs to one, since the alternatives cover all.
void split_characters(const pcre2_code* pattern, pcre2_match_data* match, std::string_view text,
                      const std::function<void(std::string_view)>& visit) {
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    const int count = pcre2_match(pattern, subject, text.size(), at, PCRE2_NO_UTF_CHECK, match, nullptr);
    if (count < 0) fail("matching the pre-token pattern", count);
    const std::size_t end = pcre2_get_ovector_pointer(match)[1];
    visit(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace

namespace detail {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // The second byte tells overlong forms, surrogates and code points above U+10FFFF.
  const unsigned char second = byte(1);
  const bool bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                   (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return bad ? 0 : length;
}

}  // namespace detail

PreTokenizer::PreTokenizer() {
  int code = 0;
  PCRE2_SIZE offset = 0;
  // Anchored here: as an option of pcre2_match it would keep the compiled code from being used.
  pcre2_code* const p = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kPattern), PCRE2_ZERO_TERMINATED,
                                      PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &code, &offset, nullptr);
  if (!p) fail("compiling the pre-token pattern", code);
  pcre2_jit_compile(p, PCRE2_JIT_COMPLETE);  // where it fails, pcre2_match interprets
  pattern_ = p;
}

PreTokenizer::~PreTokenizer() { pcre2_code_free(static_cast<pcre2_code*>(pattern_)); }

void PreTokenizer::split(std::string_view text, const std::function<void(std::string_view)>& visit) const {
  const auto* const pattern = static_cast<const pcre2_code*>(pattern_);
  const MatchData match(pcre2_match_data_create_from_pattern(pattern, nullptr));
  if (!match) throw std::bad_alloc();
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (const std::size_t length = detail::utf8_length(text.substr(end))) end += length;
    split_characters(pattern, match.get(), text.substr(at, end - at), visit);
    at = end;
    while (end < text.size() && detail::utf8_length(text.substr(end)) == 0) ++end;
    if (end > at) visit(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace thimble
