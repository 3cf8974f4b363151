#include "tools/files/error.hpp"

#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

using thimble::did_you_mean;
using thimble::Error;
using thimble::in_quotes;
using thimble::nearest;

TEST_GROUP(Errors){};

TEST(Errors, MessageNamesPlaceProblemAndAdvice) {
  const Error error("a.csv, line 7", "is empty", "remove the line");
  STRCMP_EQUAL("a.csv, line 7: is empty; remove the line", error.what());
  STRCMP_EQUAL("a.csv, line 7", error.where().c_str());
  STRCMP_EQUAL("is empty", error.problem().c_str());
  STRCMP_EQUAL("remove the line", error.advice().c_str());
}

TEST(Errors, AdviceAndPlaceMayBeMissing) {
  STRCMP_EQUAL("f: broken", Error("f", "broken").what());
  STRCMP_EQUAL("broken", Error("", "broken").what());
}

TEST(Errors, QuotesEscapeEverythingThatIsNotPlain) {
  STRCMP_EQUAL("'a b'", in_quotes("a b").c_str());
  STRCMP_EQUAL("'\\n\\t\\r\\\\\\''", in_quotes("\n\t\r\\'").c_str());
  STRCMP_EQUAL("'\\x1b[2J\\xe2\\x7f'", in_quotes("\x1b[2J\xe2\x7f").c_str());
  STRCMP_EQUAL("'\\x00'", in_quotes(std::string(1, '\0')).c_str());
}

TEST(Errors, QuotesCutLongText) {
  const std::string shown = in_quotes(std::string(1000, 'x'));
  STRCMP_EQUAL(("'" + std::string(60, 'x') + "...'").c_str(), shown.c_str());
}

TEST(Errors, NearestFindsTypingSlips) {
  const std::vector<std::string> names = {"neuron", "decoder", "microgpt", "char", "gpt2_small"};
  STRCMP_EQUAL("decoder", nearest("decodr", names).c_str());
  STRCMP_EQUAL("microgpt", nearest("mircogpt", names).c_str());
  STRCMP_EQUAL("char", nearest("chart", names).c_str());
  STRCMP_EQUAL("gpt2_small", nearest("GPT2-small", names).c_str());
  STRCMP_EQUAL("did you mean 'neuron'?", did_you_mean("neurons", names).c_str());
}

TEST(Errors, NearestStaysSilentWhenNothingIsNear) {
  const std::vector<std::string> names = {"neuron", "char"};
  STRCMP_EQUAL("", nearest("transformer", names).c_str());
  STRCMP_EQUAL("", nearest("", names).c_str());
  STRCMP_EQUAL("", nearest("x", std::vector<std::string>{"y"}).c_str());
  STRCMP_EQUAL("", did_you_mean("zzz", names).c_str());
  STRCMP_EQUAL("", nearest("a", std::vector<std::string>{}).c_str());
}

TEST(Errors, SwappedNeighboursAreOneEdit) {
  // Two replacements of four letters are too far; one swap is not.
  STRCMP_EQUAL("char", nearest("chra", std::vector<std::string>{"char"}).c_str());
  STRCMP_EQUAL("", nearest("chxx", std::vector<std::string>{"char"}).c_str());
}
