#include "tools/data/token_list.hpp"

#include <string>
#include <vector>

#include "tests/files/temporary_folder.hpp"

#include "CppUTest/TestHarness.h"

using thimble::parse_token_list;
using thimble::TokenList;
using thimble::test::error_of;

TEST_GROUP(TokenList){
    static TokenList parse(std::string_view text){return parse_token_list(text, 27, 9, "t.json");
}
static std::string error(std::string_view text) {
  return error_of([&] { parse(text); });
}
}
;

TEST(TokenList, ReadsBareArray) {
  const TokenList list = parse("[[[1,2,3],[4,5,6]],[[7,8,9],[10,11,12]]]");
  CHECK_EQUAL(2U, list.step_count);
  CHECK_EQUAL(2U, list.row_count);
  CHECK_EQUAL(3U, list.window_length);
  CHECK_EQUAL(6U, list.step(1).size());
  CHECK_EQUAL(7, list.step(1)[0]);
  CHECK_EQUAL(12, list.row(1, 1)[2]);
}

TEST(TokenList, ReadsFieldOfObjectAmongOthers) {
  const TokenList list = parse(
      R"({"name":"x","a":[1.5,{"tokens":[[[99]]]},null],"tokens":[[[0,26]]],"adamw":{"b":[true]},"loss":-3e5})");
  CHECK_EQUAL(1U, list.step_count);
  CHECK_EQUAL(26, list.row(0, 0)[1]);
}

TEST(TokenList, ReadsFile) {
  const thimble::test::TemporaryFolder folder;
  const auto path = folder.file("t.json", "[[[1,27]]]");
  STRCMP_CONTAINS("t.json: tokens[0][0][1] is 27",
                  error_of([&] { thimble::read_token_list(path, 27, 9); }).c_str());
  CHECK_EQUAL(1U, thimble::read_token_list(path, 28, 9).step_count);
  STRCMP_CONTAINS("cannot be opened",
                  error_of([&] { thimble::read_token_list(folder / "no", 27, 9); }).c_str());
}

TEST(TokenList, IdsOutsideTheVocabularyNameTheirPlace) {
  STRCMP_EQUAL(
      "t.json: tokens[1][0][2] is 27, but the model's ids are 0 to 26 (and -1 for an ignored target)",
      error("[[[1,2,3]],[[4,5,27]]]").c_str());
  STRCMP_CONTAINS("tokens[0][1][0] is -2,", error("[[[1,2],[-2,1]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][1] is 18446744073709551615,", error("[[[1,18446744073709551615]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][1] is 4294967296,", error("[[[1,4294967296]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][1] is -9223372036854775808,", error("[[[1,-9223372036854775808]]]").c_str());
}

TEST(TokenList, IgnoredTargetsMayFillTheEndOfARow) {
  const TokenList list = parse("[[[1,2,-1],[3,-1,-1]]]");
  CHECK_EQUAL(-1, list.row(0, 0)[2]);
  CHECK_EQUAL(-1, list.row(0, 1)[1]);
}

TEST(TokenList, IgnoredIdAsInputIsRefused) {
  STRCMP_EQUAL(
      "t.json: tokens[0][0][1] is -1, but as an input it must be a token; "
      "-1, an ignored target, may only fill the end of a row",
      error("[[[1,-1,2]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][0] is -1", error("[[[-1,1]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][0] is -1", error("[[[-1,-1]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][2] is -1", error("[[[1,-1,-1,4]]]").c_str());
}

TEST(TokenList, RaggedRowsNameTheirPlace) {
  STRCMP_EQUAL("t.json: tokens[0][1] has 2 ids, but the rows before it have 3",
               error("[[[1,2,3],[4,5]]]").c_str());
  STRCMP_CONTAINS("tokens[1][0] has 4 ids", error("[[[1,2,3]],[[4,5,6,7]]]").c_str());
  STRCMP_EQUAL("t.json: tokens[1] has 1 rows, but the steps before it have 2",
               error("[[[1,2],[3,4]],[[5,6]]]").c_str());
}

TEST(TokenList, RowsMustFitTheContext) {
  CHECK_EQUAL(10U, parse("[[[0,1,2,3,4,5,6,7,8,9]]]").window_length);
  STRCMP_EQUAL("t.json: tokens[0][0] has 11 ids, but the model's context of 9 allows 10",
               error("[[[0,1,2,3,4,5,6,7,8,9,10]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0] has 1 ids; the least is 2", error("[[[0]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0] has 0 ids", error("[[[]]]").c_str());
}

TEST(TokenList, EmptyListsAreRefused) {
  STRCMP_CONTAINS("the list of steps is empty", error("[]").c_str());
  STRCMP_CONTAINS("the list of steps is empty", error(R"({"tokens":[]})").c_str());
  STRCMP_CONTAINS("tokens[0] has no rows", error("[[]]").c_str());
  STRCMP_CONTAINS("tokens[1] has no rows", error("[[[1,2]],[]]").c_str());
}

TEST(TokenList, OtherShapesAreNamed) {
  STRCMP_EQUAL(
      "t.json: tokens[0][0] is the number 1, but should be a row of ids; the form is [step][row][T + 1]",
      error("[[1,2,3]]").c_str());
  STRCMP_CONTAINS("tokens[0] is the number 1, but should be a list of rows", error("[1,2]").c_str());
  STRCMP_CONTAINS("tokens[0][0][0] is a list, but should be an integer", error("[[[[1]]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][1] is the number 2.0, but should be an integer",
                  error("[[[1,2.0]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][1] is the text '2'", error("[[[1,\"2\"]]]").c_str());
  STRCMP_CONTAINS("tokens[0][0][0] is null", error("[[[null,1]]]").c_str());
  STRCMP_CONTAINS("tokens[0] is an object", error("[{}]").c_str());
  STRCMP_CONTAINS("tokens is the number 3, but should be a list of steps", error(R"({"tokens":3})").c_str());
  STRCMP_CONTAINS("tokens is an object", error(R"({"tokens":{}})").c_str());
  STRCMP_CONTAINS("tokens is a boolean", error(R"({"tokens":true})").c_str());
}

TEST(TokenList, FileWithoutTokensIsNamed) {
  STRCMP_CONTAINS("has no field \"tokens\"", error("{}").c_str());
  STRCMP_CONTAINS("has no field \"tokens\"", error(R"({"a":{"tokens":[[[1,2]]]}})").c_str());
  STRCMP_CONTAINS("has the field \"tokens\" twice",
                  error(R"({"tokens":[[[1,2]]],"tokens":[[[1,2]]]})").c_str());
  STRCMP_CONTAINS("is the number 5, not a list of steps", error("5").c_str());
  STRCMP_CONTAINS("is the text 'a', not a list of steps", error("\"a\"").c_str());
}

TEST(TokenList, BadJsonNamesItsPlace) {
  STRCMP_CONTAINS("t.json: bad JSON: parse error at line 1, column 7", error("[[[1,2").c_str());
  STRCMP_CONTAINS("bad JSON", error("").c_str());
  STRCMP_CONTAINS("bad JSON", error("[[[1,2]]] x").c_str());
  STRCMP_CONTAINS("a zero byte at 9", error(std::string_view("[[[1,2]]]\0x", 11)).c_str());
}

TEST(TokenList, DeepNestingCostsNothing) {
  STRCMP_CONTAINS("is a list, but should be an integer", error(std::string(5'000'000, '[')).c_str());
  const std::string inside =
      "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + ",\"tokens\":[[[1,2]]]}";
  CHECK_EQUAL(1U, parse(inside).step_count);
}

TEST(TokenList, AnyCutOrChangedByteIsReadOrRefused) {
  const std::string good = R"({"n":[{"x":1}],"tokens":[[[1,2],[3,-1]]],"z":"q"})";
  STRCMP_EQUAL("no error", error(good).c_str());
  for (std::size_t i = 0; i < good.size(); ++i) {
    CHECK_FALSE(error(good.substr(0, i)) == "no error");
    for (int byte = 0; byte < 256; ++byte) {
      std::string bad = good;
      bad[i] = static_cast<char>(byte);
      error(bad);
    }
  }
}
