/// Tokenizer files from outside, and text. The first byte says which: a metadata entry, tokenizer.json, vocab.json with
/// merges.txt after a zero byte, or text for the small vocabulary of the tests.

#include <cstdlib>

#include "tools/files/error.hpp"
#include "tools/tokenizer/bpe_tokenizer.hpp"

using namespace thimble;

namespace {

/// Bytes must come back, and both ways to merge must be able to take them.
void check(const BpeTokenizer& tokenizer, std::string_view text) {
  if (tokenizer.decode(tokenizer.encode(text)) != text) std::abort();
  if (tokenizer.decode(tokenizer.encode_ordinary(text)) != text) std::abort();
}

/// What was accepted must survive being written and read, and encode.
void use(const BpeVocabulary& vocabulary) {
  const std::string json = bpe_to_json(vocabulary);
  if (bpe_to_json(bpe_from_json(json, "again")) != json) std::abort();
  check(BpeTokenizer(vocabulary), "The the 12 \xff\xe2\x82\xac<|endoftext|>  \n");
}

void read(int kind, std::string_view text) {
  if (kind == 0) return use(bpe_from_json(text, "metadata"));
  if (kind == 1) return use(bpe_from_tokenizer_json(text, "tokenizer.json"));
  const std::size_t zero = std::min(text.find('\0'), text.size());
  use(bpe_from_vocab_and_merges(text.substr(0, zero), text.substr(std::min(zero + 1, text.size())), "vocab.json",
                                "merges.txt"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const BpeTokenizer small(load_bpe(THIMBLE_SOURCE_DIR "/tests/tokenizer"));
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int kind = data[0] % 4;
  if (kind == 3) {
    check(small, text);
    return 0;
  }
  try {
    read(kind, text);
  } catch (const Error&) {  // the one exception that bad files may cause
  }
  return 0;
}
