#include "tools/files/text_file.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "tests/files/temporary_folder.hpp"
#include "tools/files/atomic_file.hpp"
#include "tools/files/json_lines.hpp"
#include "tools/files/json_text.hpp"

#include "CppUTest/TestHarness.h"

using thimble::AtomicFile;
using thimble::EmptyFile;
using thimble::JsonLinesWriter;
using thimble::parse_json;
using thimble::read_file;
using thimble::write_file;
using thimble::test::error_of;
using thimble::test::TemporaryFolder;

TEST_GROUP(TextFile) {
  TemporaryFolder folder;
};

TEST(TextFile, ReadsEveryByte) {
  std::string all;
  for (int round = 0; round < 1000; ++round) {
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  }
  CHECK_TRUE(read_file(folder.file("all", all)) == all);
}

TEST(TextFile, NamesMissingFile) {
  const std::string message = error_of([&] { read_file(folder / "nothing.txt"); });
  STRCMP_CONTAINS("nothing.txt: cannot be opened: No such file or directory", message.c_str());
}

TEST(TextFile, RefusesFolder) {
  const std::string message = error_of([&] { read_file(folder / ""); });
  STRCMP_CONTAINS("is a folder, not a file", message.c_str());
}

TEST(TextFile, RefusesEmptyFileUnlessAllowed) {
  const auto path = folder.file("empty.txt", "");
  STRCMP_CONTAINS("empty.txt: is empty", error_of([&] { read_file(path); }).c_str());
  CHECK_TRUE(read_file(path, EmptyFile::kAllowed).empty());
}

TEST(TextFile, RefusesTooLargeFile) {
  const auto path = folder.file("large.txt", "0123456789");
  STRCMP_CONTAINS("has more than 9 bytes",
                  error_of([&] { read_file(path, EmptyFile::kRefused, 9); }).c_str());
  CHECK_EQUAL(10U, read_file(path, EmptyFile::kRefused, 10).size());
  STRCMP_CONTAINS("has more than 1000 bytes",
                  error_of([&] { read_file("/dev/zero", EmptyFile::kRefused, 1000); }).c_str());
}

TEST(TextFile, NamesUnreadableFile) {
  STRCMP_CONTAINS("a.txt/b: cannot be opened: Not a directory",
                  error_of([&] { read_file(folder.file("a.txt", "a") / "b"); }).c_str());
  // Reading this one fails after it was opened: nothing is mapped at address 0.
  STRCMP_CONTAINS("/proc/self/mem: reading at byte 0 failed",
                  error_of([&] { read_file("/proc/self/mem"); }).c_str());
}

TEST(TextFile, ReadsPipe) {
  int ends[2] = {};
  CHECK_EQUAL(0, ::pipe(ends));
  CHECK_EQUAL(5, ::write(ends[1], "hello", 5));
  ::close(ends[1]);
  STRCMP_EQUAL("hello", read_file("/dev/fd/" + std::to_string(ends[0])).c_str());
  ::close(ends[0]);
}

TEST(TextFile, WritesAndReplaces) {
  const auto path = folder / "out.txt";
  write_file(path, "first");
  write_file(path, "second");
  STRCMP_EQUAL("second", read_file(path).c_str());
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST(TextFile, DropsByteOrderMarkOnly) {
  CHECK_TRUE(thimble::without_byte_order_mark("\xef\xbb\xbfname") == "name");
  CHECK_TRUE(thimble::without_byte_order_mark("\xef\xbbname") == "\xef\xbbname");
  CHECK_TRUE(thimble::without_byte_order_mark("").empty());
}

TEST_GROUP(AtomicFile) {
  TemporaryFolder folder;
  static std::span<const std::byte> bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
  }
};

TEST(AtomicFile, LeavesOldContentsUntilCommit) {
  const auto path = folder.file("w", "old");
  AtomicFile file(path);
  file.write_at(0, bytes("new contents"));
  STRCMP_EQUAL("old", read_file(path).c_str());
  file.commit();
  STRCMP_EQUAL("new contents", read_file(path).c_str());
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const auto path = folder / "w";
  {
    AtomicFile file(path);
    file.write_at(0, bytes("half"));
    CHECK_EQUAL(1U, folder.entry_count());
  }
  CHECK_EQUAL(0U, folder.entry_count());
}

TEST(AtomicFile, RefusesWhatCannotBeReplaced) {
  STRCMP_CONTAINS("is a folder", error_of([&] { AtomicFile file(folder / ""); }).c_str());
  STRCMP_CONTAINS("the name is empty", error_of([&] { AtomicFile file(""); }).c_str());
  STRCMP_CONTAINS("is not a regular file", error_of([&] { AtomicFile file("/dev/null"); }).c_str());
  const std::string message = error_of([&] { AtomicFile file(folder / "no/such/w"); });
  STRCMP_CONTAINS("does not exist; create it first", message.c_str());
  STRCMP_CONTAINS("Not a directory", error_of([&] { AtomicFile file(folder.file("f", "x") / "w"); }).c_str());
}

TEST(AtomicFile, KeepsSymbolicLink) {
  const auto real = folder.file("real", "old");
  std::filesystem::create_symlink(real, folder / "link");
  write_file(folder / "link", "new");
  CHECK_TRUE(std::filesystem::is_symlink(folder / "link"));
  STRCMP_EQUAL("new", read_file(real).c_str());
}

TEST(AtomicFile, TwoWritersOfOneNameDoNotMix) {
  const auto path = folder / "w";
  AtomicFile first(path);
  AtomicFile second(path);
  first.write_at(0, bytes("first"));
  second.write_at(0, bytes("second"));
  second.commit();
  first.commit();
  STRCMP_EQUAL("first", read_file(path).c_str());
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST(AtomicFile, FullDiskLeavesOldContents) {
  const auto path = folder.file("w", "old");
  // A size limit makes the kernel refuse writes in the middle, as a full disk does.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = error_of([&] { write_file(path, std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  STRCMP_CONTAINS("failed: File too large; nothing was replaced", message.c_str());
  STRCMP_EQUAL("old", read_file(path).c_str());
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST_GROUP(JsonLines) {
  TemporaryFolder folder;
};

TEST(JsonLines, EachLineIsThereAtOnce) {
  const auto path = folder / "log";
  JsonLinesWriter log(path);
  log.write({{"step", 1}, {"loss", 3.5}});
  STRCMP_EQUAL("{\"step\":1,\"loss\":3.5}\n", read_file(path).c_str());
  log.write({{"step", 2}});
  STRCMP_EQUAL("{\"step\":1,\"loss\":3.5}\n{\"step\":2}\n", read_file(path).c_str());
}

TEST(JsonLines, AppendsToEarlierLog) {
  const auto path = folder.file("log", "{}\n");
  JsonLinesWriter(path).write(1);
  STRCMP_EQUAL("{}\n1\n", read_file(path).c_str());
}

TEST(JsonLines, StartsNewLineAfterTornOne) {
  const auto path = folder.file("log", "{}\n{\"st");
  JsonLinesWriter(path).write(1);
  STRCMP_EQUAL("{}\n{\"st\n1\n", read_file(path).c_str());
}

TEST(JsonLines, ForeignBytesAndNanStayValidJson) {
  const auto path = folder / "log";
  JsonLinesWriter(path).write({{"a", "\xff\n"}, {"b", std::nan("")}});
  STRCMP_EQUAL("{\"a\":\"\xef\xbf\xbd\\n\",\"b\":null}\n", read_file(path).c_str());
}

TEST(JsonLines, FailsWithReason) {
  STRCMP_CONTAINS("cannot be opened for writing: Is a directory",
                  error_of([&] { JsonLinesWriter log(folder / ""); }).c_str());
  JsonLinesWriter full("/dev/full");
  STRCMP_CONTAINS("/dev/full: the log cannot be written: No space left on device",
                  error_of([&] { full.write(1); }).c_str());
}

TEST_GROUP(JsonText){};

TEST(JsonText, NamesPlaceOfBadSyntax) {
  const std::string message = error_of([] { parse_json("[1, 2", "t.json"); });
  STRCMP_CONTAINS("t.json: bad JSON: parse error at line 1, column 6", message.c_str());
  STRCMP_CONTAINS("bad JSON", error_of([] { parse_json("", "t.json"); }).c_str());
  STRCMP_CONTAINS("a zero byte at 2", error_of([] { parse_json({"[]\0x", 4}, "t.json"); }).c_str());
  STRCMP_CONTAINS("bad JSON", error_of([] { parse_json("1e999", "t.json"); }).c_str());
}

TEST(JsonText, RefusesDeepNesting) {
  CHECK_EQUAL(1U, parse_json(std::string(60, '[') + std::string(60, ']'), "t").size());
  const std::string deep = error_of([] { parse_json(std::string(1'000'000, '['), "t.json"); });
  STRCMP_EQUAL("t.json: JSON nested deeper than 64", deep.c_str());
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  STRCMP_EQUAL("t.json: JSON nested deeper than 64",
               error_of([&] { parse_json(objects, "t.json"); }).c_str());
}
