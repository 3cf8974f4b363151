/// A board's batches are those of `thimble train` on the same file.

#include "ports/program/text_data.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ports/program/put_text.hpp"
#include "ports/protocol/board.pb.h"
#include "tools/train/data_source.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

const bool kRegistered = !all_models().empty();  // before the leak detector watches

const std::string kLines = "anna\nbob\n\ncharlotte\r\nd\nelisabeth-marie-louise\nfred\n";

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }

/// A file for as long as a test needs it.
struct File {
  explicit File(const std::string& text)
      : path(std::filesystem::temp_directory_path() / ("thimble_text_data_" + std::to_string(std::hash<std::string>()(text)))) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~File() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

void compare(const std::string& text, TextKind kind, const char* model_name, const Extent& extent) {
  const File file(text);
  const Model& model = find_model(model_name);
  DataChoice choice;
  (kind == TextKind::windows ? choice.text : choice.documents) = file.path.string();
  choice.in_order = kind == TextKind::documents;
  constexpr std::uint64_t kSeed = 11;
  const auto host = open_data(choice, model, extent, kSeed);
  TextData board(bytes_of(text), kind);
  const char* const wrong = board.prepare(model.vocabulary(), extent);
  CHECK_TEXT(wrong == nullptr, wrong);
  CHECK(host->fingerprint() == board.fingerprint(kSeed));
  std::vector<std::int32_t> tokens(std::size_t(extent.tokens())), targets(tokens.size());
  for (const std::uint64_t index : {0, 1, 2, 3, 4, 5, 6, 7, 20, 3, 1000, 0}) {
    const TokenBatch b = host->batch(index);
    const Extent e = board.batch(index, kSeed, tokens.data(), targets.data());
    CHECK(e == b.extent);
    for (std::size_t i = 0; i < std::size_t(e.tokens()); ++i) {
      LONGS_EQUAL(b.tokens[i], tokens[i]);
      LONGS_EQUAL(b.targets[i], targets[i]);
    }
  }
}

}  // namespace

TEST_GROUP(TextData){};

TEST(TextData, WindowsAreThoseOfTheHost) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "line " + std::to_string(i * i) + " of a text\n";
  compare(text, TextKind::windows, "pocket", {1, 32});
  compare(text, TextKind::windows, "pocket", {3, 7});
}

TEST(TextData, DocumentsAreThoseOfTheHost) {
  compare(kLines, TextKind::documents, "microgpt", {1, 16});
  compare(kLines, TextKind::documents, "microgpt", {2, 5});
  compare("\xEF\xBB\xBF" + kLines, TextKind::documents, "microgpt", {1, 16});
}

TEST(TextData, SaysWhatIsWrongInFull) {
  const std::string empty = "\n\r\n\n";
  const char* const wrongs[] = {TextData(bytes_of(kLines), TextKind::windows).prepare(96, {1, 100}),
                                TextData(bytes_of(empty), TextKind::documents).prepare(96, {1, 16}),
                                TextData(bytes_of(kLines), TextKind::documents).prepare(5, {1, 16})};
  STRCMP_EQUAL("the text is less than a window", wrongs[0]);
  STRCMP_EQUAL("the text has no documents", wrongs[1]);
  STRCMP_EQUAL("the text has too many symbols", wrongs[2]);
  for (const char* const wrong : wrongs) {
    thimble_board_Fault fault = thimble_board_Fault_init_zero;
    put_text(fault.field, wrong);
    STRCMP_EQUAL(wrong, fault.field);
  }
}

TEST(TextData, SymbolsAndBack) {
  TextData text(bytes_of(kLines), TextKind::documents);
  CHECK(text.prepare(27, {1, 16}) == nullptr);
  for (const char c : std::string("-abcdefhilmnorstuz")) {
    const std::int32_t id = text.id_of(std::byte(c));
    CHECK(id == -1 || text.byte_of(id) == std::byte(c));
  }
  LONGS_EQUAL(-1, text.id_of(std::byte{'Q'}));
  CHECK(text.byte_of(text.end_id()) == std::byte{'\n'});
}
