#include "tools/data/csv.hpp"

#include <string>
#include <vector>

#include "tests/files/temporary_folder.hpp"

#include "CppUTest/TestHarness.h"

using thimble::read_csv_column;
using thimble::test::error_of;

TEST_GROUP(Csv) {
  using Numbers = std::vector<double>;

  static std::string error(std::string_view text, std::string_view column = "t") {
    return error_of([&] { read_csv_column(text, column, "a.csv"); });
  }
};

TEST(Csv, ReadsTheNamedColumn) {
  const char* text = "time,t,note\n1,20.5,x\n2,-1e-3,\n3,+7,z\n";
  CHECK_TRUE((read_csv_column(text, "t", "a.csv") == Numbers{20.5, -1e-3, 7}));
  CHECK_TRUE((read_csv_column(text, "time", "a.csv") == Numbers{1, 2, 3}));
}

TEST(Csv, LineEndsMarksAndSpacesDoNotMatter) {
  CHECK_TRUE((read_csv_column("\xef\xbb\xbft\r\n1\r\n2\r\n\r\n\r\n", "t", "a.csv") == Numbers{1, 2}));
  CHECK_TRUE((read_csv_column(" t , u\n 1 ,\t2\n3,4", " u", "a.csv") == Numbers{2, 4}));
}

TEST(Csv, QuotedFieldsHoldCommasLineEndsAndQuotes) {
  const char* text = "note,\"the \"\"t\"\"\"\n\"a,b\nc\",\"1.5\"\n\"\",2\r\n\"\"\"\",\"3\"";
  CHECK_TRUE((read_csv_column(text, "the \"t\"", "a.csv") == Numbers{1.5, 2, 3}));
}

TEST(Csv, LinesAreCountedThroughQuotedLineEnds) {
  STRCMP_CONTAINS("a.csv, line 5, column 't': 'x' is not a number",
                  error("n,t\n\"a\nb\",1\n\"c\",2\nd,x\n").c_str());
  // A record over several lines is named by its first.
  STRCMP_CONTAINS("a.csv, line 2, column 't': 'x' is not a number", error("n,t\n\"a\nb\",x\n").c_str());
}

TEST(Csv, BrokenQuotingNamesTheLine) {
  STRCMP_CONTAINS("a.csv, line 3: a quote is opened but never closed",
                  error("n,t\na,1\n\"b,2\nc,3\n").c_str());
  STRCMP_CONTAINS("a.csv, line 2: text follows a closing quote", error("n,t\n\"a\"b,1\n").c_str());
  STRCMP_CONTAINS("a.csv, line 2: a quote inside the unquoted field 'a\"b'", error("n,t\na\"b,1\n").c_str());
}

TEST(Csv, WrongNumberOfFieldsNamesTheLine) {
  STRCMP_CONTAINS("a.csv, line 3: has 1 fields, but the header names 2", error("n,t\na,1\nb\n").c_str());
  STRCMP_CONTAINS("a.csv, line 2: has 3 fields, but the header names 2", error("n,t\na,1,\n").c_str());
}

TEST(Csv, EmptyLineInsideIsNamed) {
  STRCMP_CONTAINS("a.csv, line 3: is empty, but more data follow", error("t\n1\n\n2\n").c_str());
}

TEST(Csv, BadCellsNameLineAndColumn) {
  STRCMP_EQUAL("a.csv, line 3, column 't': the cell is empty; fill it or remove the line",
               error("n,t\na,1\nb,\n").c_str());
  STRCMP_CONTAINS("the cell is empty", error("n,t\na, \n").c_str());
  STRCMP_CONTAINS("line 2, column 't': 'nan' is not finite", error("t\nnan\n").c_str());
  STRCMP_CONTAINS("'-inf' is not finite", error("t\n-inf\n").c_str());
  STRCMP_CONTAINS("'NaN' is not finite", error("t\nNaN\n").c_str());
  STRCMP_CONTAINS("'1e999' is outside the range", error("t\n1e999\n").c_str());
  for (const char* cell : {"NA", "1.2.3", "12 3", "0x10", "+-1", "--1", "1e", "."}) {
    STRCMP_CONTAINS("is not a number", error(std::string("t\n") + cell + "\n").c_str());
  }
  STRCMP_CONTAINS("'3,5' is not a number; write a decimal point", error("t\n\"3,5\"\n").c_str());
}

TEST(Csv, UnknownColumnListsColumnsAndTheNearest) {
  STRCMP_EQUAL(
      "a.csv: has no column 'temprature'; the columns are 'time', 'temperature'; did you mean 'temperature'?",
      error("time,temperature\n1,2\n", "temprature").c_str());
  STRCMP_CONTAINS("separate the fields by commas", error("a;t\n1;2\n").c_str());
}

TEST(Csv, RepeatedColumnIsAmbiguous) {
  STRCMP_CONTAINS("has the column 't' twice", error("t,u,t\n1,2,3\n").c_str());
  CHECK_TRUE((read_csv_column("t,u,t\n1,2,3\n", "u", "a.csv") == Numbers{2}));
}

TEST(Csv, WithoutDataThereIsAnError) {
  STRCMP_CONTAINS("is empty; the first line must name the columns", error("").c_str());
  STRCMP_CONTAINS("has a header but no data", error("t\n").c_str());
  STRCMP_CONTAINS("has a header but no data", error("t\n\n\n").c_str());
}

TEST(Csv, AnyCutOrChangedByteIsReadOrRefused) {
  const std::string good = "note,\"t\"\n\"a,\"\"b\",1.5\nc,2\r\n";
  for (std::size_t i = 0; i < good.size(); ++i) {
    error(good.substr(0, i));
    for (int byte = 0; byte < 256; ++byte) {
      std::string bad = good;
      bad[i] = static_cast<char>(byte);
      error(bad);
    }
  }
  STRCMP_EQUAL("no error", error(good).c_str());
}
