#include "tools/data/quantile_bins.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/data/random.hpp"
#include "tests/files/temporary_folder.hpp"

#include "CppUTest/TestHarness.h"

using thimble::QuantileBins;
using thimble::test::error_of;
using thimble::test::PhiloxWords;

TEST_GROUP(QuantileBins) {
  using Numbers = std::vector<double>;

  static std::string fit_error(const Numbers& values, std::size_t bins) {
    return error_of([&] { QuantileBins::fit(values, bins, "a.csv, column 't'"); });
  }
};

TEST(QuantileBins, DistinctValuesFillBinsEvenly) {
  Numbers values;
  for (int i = 0; i < 100; ++i) values.push_back((i * 37 % 100) * 0.5);
  const QuantileBins bins = QuantileBins::fit(values, 4, "t");
  CHECK_EQUAL(4U, bins.bin_count());
  CHECK_TRUE((bins.edges() == Numbers{12.5, 25, 37.5}));
  std::vector<int> counts(4);
  for (const std::int32_t token : bins.encode(values)) ++counts.at(static_cast<std::size_t>(token));
  CHECK_TRUE((counts == std::vector<int>{25, 25, 25, 25}));
}

TEST(QuantileBins, DecodeGivesTheMedian) {
  const QuantileBins bins = QuantileBins::fit(Numbers{1, 2, 3, 10, 20, 30}, 2, "t");
  DOUBLES_EQUAL(2, bins.decode(0), 0);
  DOUBLES_EQUAL(20, bins.decode(1), 0);
  const QuantileBins even = QuantileBins::fit(Numbers{1, 2, 3, 10}, 2, "t");
  DOUBLES_EQUAL(1.5, even.decode(0), 0);
  DOUBLES_EQUAL(6.5, even.decode(1), 0);
}

TEST(QuantileBins, EveryFiniteNumberHasAToken) {
  const QuantileBins bins = QuantileBins::fit(Numbers{1, 2, 3, 4}, 4, "t");
  CHECK_EQUAL(0, bins.encode(-1e300));
  CHECK_EQUAL(3, bins.encode(1e300));
  CHECK_EQUAL(1, bins.encode(2));
  CHECK_EQUAL(0, bins.encode(std::nextafter(2.0, 0.0)));
  STRCMP_CONTAINS("not finite", error_of([&] { bins.encode(std::nan("")); }).c_str());
}

TEST(QuantileBins, FrequentValuesMakeFewerBins) {
  Numbers values(90, 0.0);
  for (int i = 0; i < 10; ++i) values.push_back(i + 1);
  const QuantileBins bins = QuantileBins::fit(values, 10, "t");
  CHECK_EQUAL(2U, bins.bin_count());
  CHECK_EQUAL(0, bins.encode(0));
  CHECK_EQUAL(1, bins.encode(1));
}

TEST(QuantileBins, OneRareLargerValueStillHasItsBin) {
  Numbers values(99, 5.0);
  values.push_back(6);
  const QuantileBins bins = QuantileBins::fit(values, 4, "t");
  CHECK_EQUAL(2U, bins.bin_count());
  DOUBLES_EQUAL(5, bins.decode(0), 0);
  DOUBLES_EQUAL(6, bins.decode(1), 0);
}

TEST(QuantileBins, MoreBinsThanValuesGiveOneBinEach) {
  const QuantileBins bins = QuantileBins::fit(Numbers{3, 1, 2}, 100, "t");
  CHECK_EQUAL(3U, bins.bin_count());
  DOUBLES_EQUAL(1, bins.decode(bins.encode(1)), 0);
  DOUBLES_EQUAL(3, bins.decode(bins.encode(3)), 0);
}

TEST(QuantileBins, NoBinIsEmptyAndDecodingIsStable) {
  // Values on a coarse grid, so that quantiles coincide often.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const PhiloxWords random{seed};
    Numbers values;
    for (std::uint64_t i = 0; i < 200; ++i)
      values.push_back(static_cast<double>(random(i) % (2 + seed)) * 0.1);
    const QuantileBins bins = QuantileBins::fit(values, 16, "t");
    std::vector<int> counts(bins.bin_count());
    for (const std::int32_t token : bins.encode(values)) ++counts.at(static_cast<std::size_t>(token));
    for (std::size_t k = 0; k < bins.bin_count(); ++k) {
      CHECK_TRUE(counts[k] > 0);
      const auto token = static_cast<std::int32_t>(k);
      CHECK_EQUAL(token, bins.encode(bins.decode(token)));
    }
  }
}

TEST(QuantileBins, UselessColumnsAreRefused) {
  STRCMP_EQUAL("a.csv, column 't': is constant (2.5 in all 3 lines): there is nothing to learn",
               fit_error({2.5, 2.5, 2.5}, 4).c_str());
  STRCMP_CONTAINS("is constant", fit_error({1}, 4).c_str());
  STRCMP_CONTAINS("no values", fit_error({}, 4).c_str());
  STRCMP_CONTAINS("1 bins tell nothing apart; use at least 2", fit_error({1, 2}, 1).c_str());
  STRCMP_CONTAINS("value 1 is not finite", fit_error({1, std::nan("")}, 4).c_str());
  STRCMP_CONTAINS("value 0 is not finite",
                  fit_error({std::numeric_limits<double>::infinity(), 1}, 4).c_str());
}

TEST(QuantileBins, JsonKeepsEveryBit) {
  const QuantileBins bins = QuantileBins::fit(Numbers{0.1, 1.0 / 3, -1e-300, 0x1p-1074, 1e300, 7}, 6, "t");
  const QuantileBins back = QuantileBins::from_json(bins.to_json(), "w");
  CHECK_TRUE(back.edges() == bins.edges());
  for (std::size_t k = 0; k < bins.bin_count(); ++k) {
    CHECK_TRUE(back.decode(static_cast<std::int32_t>(k)) == bins.decode(static_cast<std::int32_t>(k)));
  }
}

TEST(QuantileBins, HostileJsonIsRefused) {
  const auto error = [](const std::string& text) {
    return error_of([&] { QuantileBins::from_json(text, "w"); });
  };
  STRCMP_CONTAINS("w: bad JSON", error("{").c_str());
  STRCMP_CONTAINS("not of the type \"quantiles\"", error(R"({"type":"bytes"})").c_str());
  STRCMP_CONTAINS("not of the type \"quantiles\"", error("7").c_str());
  const auto with = [](const char* edges, const char* medians) {
    return std::string(R"({"type":"quantiles","edges":)") + edges + R"(,"medians":)" + medians + "}";
  };
  STRCMP_EQUAL("no error", error(with("[1]", "[0,2]")).c_str());
  STRCMP_CONTAINS("\"edges\" are not ascending numbers", error(with("[1,1]", "[0,1,2]")).c_str());
  STRCMP_CONTAINS("\"edges\" are not ascending numbers", error(with("\"1\"", "[0,2]")).c_str());
  STRCMP_CONTAINS("\"medians\" are not ascending numbers", error(with("[1]", "[0,null]")).c_str());
  STRCMP_CONTAINS("0 edges and 1 medians", error(with("[]", "[0]")).c_str());
  STRCMP_CONTAINS("1 edges and 1 medians", error(with("[1]", "[0]")).c_str());
  STRCMP_CONTAINS("median 1 lies outside its bin", error(with("[1]", "[0,0.5]")).c_str());
}

TEST(QuantileBins, DecodeRefusesOtherTokens) {
  const QuantileBins bins = QuantileBins::fit(Numbers{1, 2}, 2, "t");
  STRCMP_CONTAINS("id 2 is none of the 2 bins", error_of([&] { bins.decode(2); }).c_str());
  STRCMP_CONTAINS("id -1 is none", error_of([&] { bins.decode(-1); }).c_str());
}
