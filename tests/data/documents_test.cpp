#include "tools/data/documents.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/data/random.hpp"
#include "tests/files/temporary_folder.hpp"

#include "CppUTest/TestHarness.h"

using thimble::DocumentOrder;
using thimble::Documents;
using thimble::shuffled_order;
using thimble::test::error_of;
using thimble::test::PhiloxWords;

TEST_GROUP(Documents) {
  static std::vector<std::int32_t> tokens(const Documents& documents, std::size_t index) {
    const auto span = documents.tokens(index);
    return {span.begin(), span.end()};
  }
  using Ids = std::vector<std::int32_t>;
};

TEST(Documents, AreFramedByBosAfterTheSortedSymbols) {
  const Documents documents("cab\nbb\n", 16, 27, "t");
  CHECK_EQUAL(2U, documents.count());
  CHECK_TRUE((tokens(documents, 0) == Ids{3, 2, 0, 1, 3}));
  CHECK_TRUE((tokens(documents, 1) == Ids{3, 1, 1, 3}));
  CHECK_TRUE(documents.symbols().bos() == 3);
  CHECK_EQUAL(5U, documents.longest());
  CHECK_EQUAL(0U, documents.cut_count());
}

TEST(Documents, AlphabetHasBosTwentySix) {
  const Documents documents("abcdefghijklm\nnopqrstuvwxyz\nemma", 16, 27, "t");
  CHECK_TRUE(documents.symbols().bos() == 26);
  CHECK_TRUE((tokens(documents, 2) == Ids{26, 4, 12, 12, 0, 26}));
}

TEST(Documents, EmptyLinesCarriageReturnsAndMarkAreDropped) {
  const Documents documents("\xef\xbb\xbf\r\n\nab\r\n\r\n\nba", 16, 27, "t");
  CHECK_EQUAL(2U, documents.count());
  CHECK_EQUAL(3U, documents.symbols().id_count());
  CHECK_TRUE((tokens(documents, 0) == Ids{2, 0, 1, 2}));
  CHECK_TRUE((tokens(documents, 1) == Ids{2, 1, 0, 2}));
}

TEST(Documents, CarriageReturnInsideALineIsASymbol) {
  CHECK_EQUAL(4U, Documents("a\rb\r\n", 16, 27, "t").symbols().id_count());
}

TEST(Documents, LongOnesAreCutToContextPlusOne) {
  // Three symbols and two BOS make five tokens: they fit a context of 4 and lose one at 3.
  CHECK_TRUE((tokens(Documents("abc", 4, 27, "t"), 0) == Ids{3, 0, 1, 2, 3}));
  const Documents cut("abc\na", 3, 27, "t");
  CHECK_TRUE((tokens(cut, 0) == Ids{3, 0, 1, 2}));
  CHECK_TRUE((tokens(cut, 1) == Ids{3, 0, 3}));
  CHECK_EQUAL(1U, cut.cut_count());
  CHECK_EQUAL(4U, cut.longest());
  CHECK_TRUE((tokens(Documents("abc", 1, 27, "t"), 0) == Ids{3, 0}));
}

TEST(Documents, SymbolsOfCutTailsStillCount) {
  CHECK_TRUE(Documents("abcz", 1, 27, "t").symbols().bos() == 4);
}

TEST(Documents, NoDocumentIsAnError) {
  for (const char* text : {"", "\n", "\r\n\r\n", "\xef\xbb\xbf"}) {
    STRCMP_EQUAL("names.txt: has no documents; give one document a line",
                 error_of([&] { Documents(text, 16, 27, "names.txt"); }).c_str());
  }
}

TEST(Documents, TooManySymbolsAreListed) {
  STRCMP_CONTAINS(
      "t: has 3 distinct bytes and BOS, but the model's vocabulary holds 3 ids; rarest first: 'c' x 1",
      error_of([] { Documents("aab\nbc\na", 16, 3, "t"); }).c_str());
  CHECK_TRUE(Documents("aab\nbc\na", 16, 4, "t").symbols().bos() == 3);
}

TEST(Documents, ShuffleIsAPermutationThatSeedAndEpochChange) {
  const auto order = shuffled_order(1000, PhiloxWords{1}, 0);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::uint32_t i = 0; i < 1000; ++i) CHECK_EQUAL(i, sorted[i]);
  CHECK_TRUE(order == shuffled_order(1000, PhiloxWords{1}, 0));
  CHECK_FALSE(order == sorted);
  CHECK_FALSE(order == shuffled_order(1000, PhiloxWords{2}, 0));
  CHECK_FALSE(order == shuffled_order(1000, PhiloxWords{1}, 1));
}

TEST(Documents, ShuffleGivesEveryOrderAboutEquallyOften) {
  std::vector<int> counts(6);
  for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) {
    const auto order = shuffled_order(3, PhiloxWords{7}, epoch);
    ++counts[order[0] * 2 + (order[1] > order[2] ? 1U : 0U)];
  }
  for (const int count : counts) CHECK_TRUE(std::abs(count - 1000) < 6 * 29);  // six standard deviations
}

TEST(Documents, FileOrderRepeats) {
  DocumentOrder order(3);
  for (std::uint64_t step = 0; step < 10; ++step) CHECK_EQUAL(step % 3, order.at(step));
}

TEST(Documents, SeededOrderVisitsEachDocumentOncePerEpoch) {
  DocumentOrder order(50, PhiloxWords{4});
  std::vector<std::size_t> first;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int> seen(50);
    for (std::uint64_t i = 0; i < 50; ++i) ++seen[order.at(epoch * 50 + i)];
    CHECK_TRUE(seen == std::vector<int>(50, 1));
  }
}

TEST(Documents, SeededOrderCanBeEnteredAnywhere) {
  DocumentOrder straight(50, PhiloxWords{4});
  std::vector<std::size_t> expected;
  for (std::uint64_t step = 0; step < 200; ++step) expected.push_back(straight.at(step));
  DocumentOrder resumed(50, PhiloxWords{4});
  for (const std::uint64_t step : {170U, 3U, 99U, 100U, 0U}) CHECK_EQUAL(expected[step], resumed.at(step));
}
