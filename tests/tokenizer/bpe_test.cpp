#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/files/temporary_folder.hpp"
#include "tools/files/text_file.hpp"
#include "tools/tokenizer/bpe_tokenizer.hpp"
#include "tools/tokenizer/byte_alphabet.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;
using test::error_of;
using Ids = std::vector<std::int32_t>;

namespace {

const std::string kFolder = THIMBLE_SOURCE_DIR "/tests/tokenizer";

std::string random_bytes(std::uint32_t& state, std::size_t count) {
  std::string s;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    s += char(state >> 24);
  }
  return s;
}

}  // namespace

TEST_GROUP(Bpe) {
  BpeTokenizer tokenizer{load_bpe(kFolder)};
};

TEST(Bpe, IdsAreThoseOfTheSlowImplementation) {
  const auto cases = nlohmann::json::parse(read_file(kFolder + "/expected.json"));
  CHECK_TRUE(cases.size() > 300);
  for (const auto& c : cases) {
    const std::string text = c["text"];
    CHECK_TEXT(tokenizer.encode_ordinary(text) == c["ids"].get<Ids>(), text.c_str());
    CHECK_TRUE(tokenizer.decode(c["ids"].get<Ids>()) == text);
  }
}

TEST(Bpe, AllWaysToTheVocabularyAgree) {
  const std::string vocab = read_file(kFolder + "/vocab.json"), merges = read_file(kFolder + "/merges.txt");
  const BpeVocabulary pair = bpe_from_vocab_and_merges(vocab, merges, "v", "m");
  const std::string json = bpe_to_json(tokenizer.vocabulary());
  STRCMP_EQUAL(json.c_str(), bpe_to_json(pair).c_str());
  STRCMP_EQUAL(json.c_str(), bpe_to_json(bpe_from_json(json, "j")).c_str());
  STRCMP_EQUAL(merges.c_str(), merges_txt_of(pair).c_str());
  STRCMP_EQUAL(json.c_str(), bpe_to_json(bpe_from_vocab_and_merges(vocab_json_of(pair), merges, "v", "m")).c_str());
  STRCMP_EQUAL(json.c_str(), bpe_to_json(*bpe_from_metadata({{"tokenizer", json}}, "w")).c_str());
  CHECK_FALSE(bpe_from_metadata({{"tokenizer", R"({"type":"bytes"})"}}, "w").has_value());
  CHECK_EQUAL(tokenizer.id_count(), tokenizer_from({{"tokenizer", json}}, 1000, "w")->id_count());
}

TEST(Bpe, SpecialTokensAreFoundInTextUnlessReadAsOrdinary) {
  const std::int32_t end = *tokenizer.bos();
  CHECK_TRUE((tokenizer.encode("a<|endoftext|><|endoftext|>b") == Ids{'a', end, end, 'b'}));
  CHECK_TRUE(tokenizer.encode_ordinary("<|endoftext|>").size() > 1);
  CHECK_TRUE(tokenizer.encode("<|endoftext|").size() > 1);
}

TEST(Bpe, TheLongestSpecialTokenWins) {
  BpeVocabulary v = tokenizer.vocabulary();
  for (const char* text : {"<a", "<a><b>", "<a>"}) {
    v.special[text] = std::int32_t(v.tokens.size());
    v.tokens.push_back(text);
  }
  const BpeTokenizer t(v);
  const auto id = [&](const char* text) { return v.special.at(text); };
  CHECK_TRUE((t.encode("<a><b><a>x<a") == Ids{id("<a><b>"), id("<a>"), 'x', id("<a")}));
}

TEST(Bpe, EveryByteStringComesBack) {
  std::uint32_t state = 7;
  for (std::size_t n = 0; n < 400; ++n) {
    const std::string s = random_bytes(state, n);
    CHECK_TRUE(tokenizer.decode(tokenizer.encode(s)) == s);
  }
}

TEST(Bpe, MalformedBytesAreAPreTokenOfTheirOwn) {
  const PreTokenizer p;
  const auto pieces = [&](std::string_view text) {
    std::string joined;
    p.split(text, [&](std::string_view piece) { joined += "[" + std::string(piece) + "]"; });
    return joined;
  };
  STRCMP_EQUAL("[a][\xff\xfe][ b]", pieces("a\xff\xfe b").c_str());
  STRCMP_EQUAL("[\xe2\x82][x]", pieces("\xe2\x82x").c_str());                  // cut short
  STRCMP_EQUAL("[\xc0\xaf][\xe2\x82\xac]", pieces("\xc0\xaf\xe2\x82\xac").c_str());  // overlong, then a euro sign
  STRCMP_EQUAL("[\xed\xa0\x80\xf4\x90\x80\x80]", pieces("\xed\xa0\x80\xf4\x90\x80\x80").c_str());  // surrogate, too high
  STRCMP_EQUAL("[  ][\xff]", pieces("  \xff").c_str());
}

TEST(Bpe, ScanAndHeapAgree) {
  // Words around the length where the heap takes over: "the" again and again, with what stands in between.
  for (std::size_t n = 40; n < 60; ++n) {
    std::string word;
    while (word.size() < n) word += "therestand"[word.size() % 10];
    Ids parts = tokenizer.encode(word);
    CHECK_TRUE(tokenizer.decode(parts) == word);
  }
  const BpeMerger merger(tokenizer.vocabulary());
  for (std::size_t n = 1; n < 49; ++n) {
    // A long word of two halves that no merge joins: the heap must give what two scans give.
    std::string half;
    while (half.size() < n) half += "constexpr"[half.size() % 9];
    Ids one, two;
    merger.encode(half, one);
    merger.encode(half + "\xff" + std::string(60, '\xfe'), two);
    CHECK_TRUE(std::equal(one.begin(), one.end(), two.begin()));
  }
}

TEST(Bpe, LongPreTokensTakeNoQuadraticTime) {
  for (const char c : {'e', ' ', '\xff', '='}) {
    const std::string s(2'000'000, c);  // seconds, not hours
    CHECK_TRUE(tokenizer.decode(tokenizer.encode(s)) == s);
  }
}

TEST(Bpe, UnknownIdsAreRefused) {
  CHECK_TRUE(error_of([&] { tokenizer.decode(Ids{100000}); }).find("100000") != std::string::npos);
  CHECK_TRUE(error_of([&] { tokenizer.decode(Ids{-1}); }).find("-1") != std::string::npos);
}

TEST(Bpe, TheAlphabetIsOneToOne) {
  std::string all;
  for (int b = 0; b < 256; ++b) all += char(b);
  STRCMP_EQUAL("\xc4\xa0", symbol_of_byte(' ').c_str());
  STRCMP_EQUAL("\xc4\x8a", symbol_of_byte('\n').c_str());
  CHECK_TRUE(from_byte_alphabet(to_byte_alphabet(all)) == all);
  CHECK_FALSE(from_byte_alphabet(" ").has_value());
  CHECK_FALSE(from_byte_alphabet("\xc4").has_value());
  CHECK_FALSE(from_byte_alphabet("\xe2\x82\xac").has_value());
}

TEST_GROUP(BpeFiles) {
  nlohmann::json vocab = nlohmann::json::parse(read_file(kFolder + "/vocab.json"));
  nlohmann::json file = nlohmann::json::parse(read_file(kFolder + "/tokenizer.json"));

  void refuses_pair(const std::string& v, const std::string& merges, const char* words) {
    const std::string e = error_of([&] { bpe_from_vocab_and_merges(v, merges, "V", "M"); });
    CHECK_TEXT(e.find(words) != std::string::npos, e.c_str());
  }
  void refuses_file(const nlohmann::json& f, const char* words) {
    const std::string e = error_of([&] { bpe_from_tokenizer_json(f.dump(), "F"); });
    CHECK_TEXT(e.find(words) != std::string::npos, e.c_str());
  }
};

TEST(BpeFiles, BadVocabulariesAreRefused) {
  refuses_pair("{", "", "bad JSON");
  refuses_pair("[]", "", "not a JSON object");
  refuses_pair("{}", "", "has no token");
  refuses_pair("{\"\xff\": 0}", "", "bad JSON");
  using nlohmann::json;
  for (const json& id : {json(-1), json(1.5), json("1"), json(1 << 20)}) {
    auto v = vocab;
    v["a"] = id;
    refuses_pair(v.dump(), "", "whole number");
  }
  auto v = vocab;
  v["a"] = 98;
  refuses_pair(v.dump(), "", "two tokens");
  v["a"] = 100000;
  refuses_pair(v.dump(), "", "no token has the id 97");
  v = vocab;
  v["\xe2\x82\xac"] = v.size();
  refuses_pair(v.dump(), "", "alphabet");
}

TEST(BpeFiles, BadMergesAreRefusedWithTheirLine) {
  const std::string v = vocab.dump();
  refuses_pair(v, "#version\nqqq z\n", "M, line 2: 'qqq' is no token");
  refuses_pair(v, "q \x01\n", "line 1");
  refuses_pair(v, "q z\n", "'qz' is no token");
  refuses_pair(v, "\n\nabc\n", "line 3");
  refuses_pair(v, "a b c\n", "line 1");
  refuses_pair(v, "\xff \xfe\n", "'\\xff' is no token");
  const std::string first = file["model"]["merges"][0][0].get<std::string>() + " " +
                            file["model"]["merges"][0][1].get<std::string>() + "\r\n";
  refuses_pair(v, first + first, "line 2");
}

TEST(BpeFiles, TokenizersOfOtherKindsAreRefused) {
  const auto changed = [&](const char* pointer, const nlohmann::json& value) {
    auto f = file;
    f[nlohmann::json::json_pointer(pointer)] = value;
    return f;
  };
  refuses_file(changed("/model/type", "WordPiece"), "WordPiece");
  refuses_file(changed("/pre_tokenizer", nullptr), "pre_tokenizer");
  refuses_file(changed("/pre_tokenizer/type", "Split"), "pre_tokenizer");
  refuses_file(changed("/pre_tokenizer/use_regex", false), "pre_tokenizer");
  refuses_file(changed("/pre_tokenizer/add_prefix_space", true), "add_prefix_space");
  refuses_file(changed("/normalizer", {{"type", "NFC"}}), "normalizer");
  refuses_file(changed("/model/end_of_word_suffix", "</w>"), "end_of_word_suffix");
  refuses_file(changed("/model/ignore_merges", true), "ignore_merges");
  refuses_file(changed("/added_tokens/0/lstrip", true), "lstrip");
  refuses_file(changed("/added_tokens/0/content", ""), "empty");
  refuses_file(changed("/added_tokens/0/content", "other"), "two tokens");
  refuses_file(changed("/added_tokens/0/id", 3), "two tokens");
  refuses_file(changed("/added_tokens/0", 3), "content");
  refuses_file(changed("/model/vocab", 3), "vocab");
  refuses_file(changed("/model/merges/0", 3), "merge 0");
}

TEST(BpeFiles, AFolderOrAnyOfItsFilesWillDo) {
  const auto count = load_bpe(kFolder).tokens.size();
  CHECK_EQUAL(count, load_bpe(kFolder + "/vocab.json").tokens.size());
  CHECK_EQUAL(count, load_bpe(kFolder + "/merges.txt").tokens.size());
  CHECK_EQUAL(count, load_bpe(kFolder + "/tokenizer.json").tokens.size());
  CHECK_TRUE(has_bpe_files(kFolder));
  CHECK_FALSE(has_bpe_files(THIMBLE_SOURCE_DIR "/tests"));
  CHECK_TRUE(error_of([&] { load_bpe(THIMBLE_SOURCE_DIR "/tests"); }).find("vocab.json") != std::string::npos);
}
