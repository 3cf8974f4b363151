#include "tools/terminal/table.hpp"

#include <stdexcept>

#include "CppUTest/TestHarness.h"

using thimble::Table;

TEST_GROUP(Table){};

TEST(Table, NumbersStandRightWordsLeft) {
  Table table({"tensor", "bytes", "share"});
  table.add_row({"wte.weight", "1,728", "12.5 %"});
  table.add_row({"  b", "16", "-0.1 %"});
  STRCMP_EQUAL(
      "tensor      bytes   share\n"
      "----------  -----  ------\n"
      "wte.weight  1,728  12.5 %\n"
      "  b            16  -0.1 %\n",
      table.text().c_str());
}

TEST(Table, OneWordMakesAColumnLeft) {
  Table table({"a", "b"});
  table.add_row({"1", "10"});
  table.add_row({"none", "9"});
  STRCMP_EQUAL(
      "a      b\n"
      "----  --\n"
      "1     10\n"
      "none   9\n",
      table.text().c_str());
}

TEST(Table, EmptyCellsAndMissingOnesDoNotCount) {
  Table table({"name", "n", "m"});
  table.add_row({"x"});
  table.add_row({"y", "100", "nan"});
  STRCMP_EQUAL(
      "name    n    m\n"
      "----  ---  ---\n"
      "x\n"
      "y     100  nan\n",
      table.text().c_str());
}

TEST(Table, WideCharactersCountOnce) {
  Table table({"n", "x"});
  table.add_row({"\xc3\xa9\xc3\xa9", "1"});
  table.add_row({"abc", "2"});
  STRCMP_EQUAL(
      "n    x\n"
      "---  -\n"
      "\xc3\xa9\xc3\xa9   1\n"
      "abc  2\n",
      table.text().c_str());
}

TEST(Table, WithoutRowsThereIsTheHeader) {
  STRCMP_EQUAL("a  b\n-  -\n", Table({"a", "b"}).text().c_str());
}

TEST(Table, TooManyCellsAreMisuse) {
  Table table({"a"});
  CHECK_THROWS(std::logic_error, table.add_row({"1", "2"}));
}
