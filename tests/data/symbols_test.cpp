#include "tools/data/symbols.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/files/temporary_folder.hpp"

#include "CppUTest/TestHarness.h"

using thimble::Framing;
using thimble::Symbols;
using thimble::test::error_of;

namespace {

Symbols framed(std::string_view text) {
  thimble::ByteCounts counts{};
  thimble::count_bytes(text, counts);
  return Symbols(counts, Framing::kBos, 256, "t");
}

}  // namespace

TEST_GROUP(Symbols){};

TEST(Symbols, IdsFollowSortedBytes) {
  const Symbols symbols = Symbols::of_text("banana\xe2\n", 256, "t");
  CHECK_EQUAL(5U, symbols.id_count());
  CHECK_TRUE((symbols.encode("\nabn\xe2", "p") == std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  CHECK_EQUAL(-1, symbols.id_of('x'));
  CHECK_FALSE(symbols.bos().has_value());
}

TEST(Symbols, EveryByteComesBack) {
  std::string all;
  for (int byte = 255; byte >= 0; --byte) all += static_cast<char>(byte);
  const Symbols symbols = Symbols::of_text(all, 256, "t");
  CHECK_EQUAL(256U, symbols.id_count());
  CHECK_TRUE(symbols.decode(symbols.encode(all, "t")) == all);
}

TEST(Symbols, TooManySymbolsAreListedRarestFirst) {
  const std::string message = error_of([] { Symbols::of_text("aaa\nbb\xe2", 2, "poem.txt"); });
  STRCMP_EQUAL(
      "poem.txt: has 4 distinct bytes, but the model's vocabulary holds 2 ids; rarest first: "
      "'\\n' x 1, '\\xe2' x 1, 'b' x 2, 'a' x 3; "
      "choose a model with a larger vocabulary, or remove the 2 rarest from the text",
      message.c_str());
}

TEST(Symbols, ExactlyTheVocabularyFits) {
  CHECK_EQUAL(3U, Symbols::of_text("abc", 3, "t").id_count());
  STRCMP_CONTAINS("3 distinct bytes", error_of([] { Symbols::of_text("abc", 2, "t"); }).c_str());
}

TEST(Symbols, BosTakesOneIdAfterTheBytes) {
  const Symbols symbols = framed("cab");
  CHECK_EQUAL(4U, symbols.id_count());
  CHECK_TRUE(symbols.bos() == 3);
  STRCMP_EQUAL("\nab\n", symbols.decode(std::vector<std::int32_t>{3, 0, 1, 3}).c_str());
  thimble::ByteCounts counts{};
  counts['a'] = counts['b'] = counts['c'] = 1;
  STRCMP_CONTAINS("has 3 distinct bytes and BOS, but the model's vocabulary holds 3 ids",
                  error_of([&] { Symbols(counts, Framing::kBos, 3, "t"); }).c_str());
}

TEST(Symbols, EmptyTextHasNone) {
  STRCMP_EQUAL("t: has no symbols", error_of([] { Symbols::of_text("", 5, "t"); }).c_str());
}

TEST(Symbols, UnknownByteNamesItselfAndItsPosition) {
  const Symbols symbols = Symbols::of_text("abc\n", 256, "t");
  STRCMP_EQUAL("prompt: byte 'Z' at position 2 is not one of the model's symbols; they are '\\nabc'",
               error_of([&] { symbols.encode("abZ", "prompt"); }).c_str());
  STRCMP_CONTAINS("byte '\\xc3' at position 0",
                  error_of([&] { symbols.encode("\xc3\xa9", "prompt"); }).c_str());
  STRCMP_CONTAINS("byte '\\x00' at position 1",
                  error_of([&] { symbols.encode(std::string("a\0", 2), "prompt"); }).c_str());
}

TEST(Symbols, DecodeRefusesIdsWithoutSymbol) {
  const Symbols symbols = Symbols::of_text("ab", 256, "t");
  STRCMP_CONTAINS("id 2 is none of the 2 symbols",
                  error_of([&] { symbols.decode(std::vector<std::int32_t>{2}); }).c_str());
  STRCMP_CONTAINS("id -1 is none", error_of([&] { symbols.decode(std::vector<std::int32_t>{-1}); }).c_str());
}

TEST(Symbols, JsonComesBack) {
  const Symbols plain = Symbols::of_text("hello\n\xff", 256, "t");
  STRCMP_EQUAL(R"({"type":"bytes","bytes":[10,101,104,108,111,255]})", plain.to_json().c_str());
  STRCMP_EQUAL(plain.to_json().c_str(), Symbols::from_json(plain.to_json(), "w").to_json().c_str());
  STRCMP_EQUAL(R"({"type":"bytes","bytes":[97,98],"bos":2})", framed("ab").to_json().c_str());
  const Symbols back = Symbols::from_json(framed("ab").to_json(), "w");
  CHECK_TRUE(back.bos() == 2);
  CHECK_TRUE((back.encode("ba", "p") == std::vector<std::int32_t>{1, 0}));
}

TEST(Symbols, HostileJsonIsRefused) {
  const auto error = [](const char* text) { return error_of([&] { Symbols::from_json(text, "w"); }); };
  STRCMP_CONTAINS("w: bad JSON", error("{").c_str());
  STRCMP_CONTAINS("not of the type \"bytes\"", error("[]").c_str());
  STRCMP_CONTAINS("not of the type \"bytes\"", error(R"({"type":"quantiles"})").c_str());
  STRCMP_CONTAINS("not of the type \"bytes\"", error(R"({"type":7})").c_str());
  STRCMP_CONTAINS("no list of \"bytes\"", error(R"({"type":"bytes"})").c_str());
  STRCMP_CONTAINS("no list of \"bytes\"", error(R"({"type":"bytes","bytes":[]})").c_str());
  STRCMP_CONTAINS("no list of \"bytes\"", error(R"({"type":"bytes","bytes":{"a":1}})").c_str());
  for (const char* list : {"[256]", "[-1]", "[1,1]", "[2,1]", "[1.5]", "[\"a\"]", "[null]", "[[1]]"}) {
    const std::string text = std::string(R"({"type":"bytes","bytes":)") + list + "}";
    STRCMP_CONTAINS("not ascending numbers from 0 to 255", error(text.c_str()).c_str());
  }
  STRCMP_CONTAINS("\"bos\" is not the id after its bytes, 2",
                  error(R"({"type":"bytes","bytes":[1,2],"bos":3})").c_str());
  STRCMP_CONTAINS("\"bos\" is not", error(R"({"type":"bytes","bytes":[1,2],"bos":"2"})").c_str());
}
