#include "tools/terminal/format.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>

#include "CppUTest/TestHarness.h"

using thimble::display_width;
using thimble::grouped;
using thimble::human_bytes;
using thimble::human_seconds;
using thimble::utf8_locale;

TEST_GROUP(Format){};

TEST_GROUP(Locale) {
  std::map<std::string, std::string> before;

  void setup() override {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      if (const char* value = std::getenv(name)) before[name] = value;
      ::unsetenv(name);
    }
  }
  void teardown() override {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) ::unsetenv(name);
    for (const auto& [name, value] : before) ::setenv(name.c_str(), value.c_str(), 1);
    before.clear();
  }
};

TEST(Format, ThousandsAreSeparated) {
  STRCMP_EQUAL("0", grouped(0).c_str());
  STRCMP_EQUAL("999", grouped(999).c_str());
  STRCMP_EQUAL("1,000", grouped(1000).c_str());
  STRCMP_EQUAL("124,439,808", grouped(124'439'808).c_str());
  STRCMP_EQUAL("-999", grouped(-999).c_str());
  STRCMP_EQUAL("-1,000", grouped(-1000).c_str());
  STRCMP_EQUAL("-9,223,372,036,854,775,808", grouped(std::numeric_limits<std::int64_t>::min()).c_str());
}

TEST(Format, BytesTakeTheFittingUnit) {
  STRCMP_EQUAL("0 bytes", human_bytes(0).c_str());
  STRCMP_EQUAL("1,023 bytes", human_bytes(1023).c_str());
  STRCMP_EQUAL("1.0 KiB", human_bytes(1024).c_str());
  STRCMP_EQUAL("1.5 KiB", human_bytes(1536).c_str());
  STRCMP_EQUAL("256.0 KiB", human_bytes(256 * 1024).c_str());
  STRCMP_EQUAL("1.0 MiB", human_bytes(1024 * 1024 - 1).c_str());
  STRCMP_EQUAL("1023.9 KiB", human_bytes(1023 * 1024 + 920).c_str());
  STRCMP_EQUAL("2.0 GiB", human_bytes(std::int64_t{1} << 31).c_str());
  STRCMP_EQUAL("8192.0 PiB", human_bytes(std::numeric_limits<std::int64_t>::max()).c_str());
}

TEST(Format, SecondsReadAsAClock) {
  STRCMP_EQUAL("0:00", human_seconds(0.4).c_str());
  STRCMP_EQUAL("0:05", human_seconds(4.6).c_str());
  STRCMP_EQUAL("1:00", human_seconds(59.7).c_str());
  STRCMP_EQUAL("1:02:03", human_seconds(3723).c_str());
  STRCMP_EQUAL("0:00", human_seconds(-5).c_str());
  STRCMP_EQUAL("0:00", human_seconds(std::nan("")).c_str());
  STRCMP_EQUAL("9999:00:00", human_seconds(HUGE_VAL).c_str());
}

TEST(Format, WidthCountsCharactersNotBytes) {
  CHECK_EQUAL(0U, display_width(""));
  CHECK_EQUAL(3U, display_width("abc"));
  CHECK_EQUAL(3U, display_width("a\xe2\x94\xa4z"));
  STRCMP_EQUAL("  \xc3\xa9", thimble::padded_left("\xc3\xa9", 3).c_str());
  STRCMP_EQUAL("\xc3\xa9  ", thimble::padded_right("\xc3\xa9", 3).c_str());
  STRCMP_EQUAL("abcd", thimble::padded_left("abcd", 3).c_str());
}

TEST(Locale, FirstVariableThatIsSetDecides) {
  CHECK_FALSE(utf8_locale());
  ::setenv("LANG", "de_DE.UTF-8", 1);
  CHECK_TRUE(utf8_locale());
  ::setenv("LC_CTYPE", "C", 1);
  CHECK_FALSE(utf8_locale());
  ::setenv("LC_ALL", "C.utf8", 1);
  CHECK_TRUE(utf8_locale());
  ::setenv("LC_ALL", "", 1);
  CHECK_FALSE(utf8_locale());
}
