#include "tools/files/gguf.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/files/damage.hpp"
#include "tests/files/temporary_folder.hpp"
#include "tools/files/gguf_writer.hpp"
#include "tools/files/little_endian.hpp"

#include "CppUTest/TestHarness.h"

using thimble::GgufFile;
using thimble::GgufValue;
using thimble::GgufWriter;
using thimble::StoredTensor;
using thimble::StoredType;
using thimble::detail::put_little;
using thimble::test::error_of;
using thimble::test::refused;
using thimble::test::refused_changes;
using thimble::test::refused_truncations;
using thimble::test::TemporaryFolder;

namespace {

using Shape = std::vector<std::uint64_t>;

GgufFile open_bytes(std::span<const std::byte> bytes) {
  return GgufFile::from_bytes(bytes, "t.gguf");
}

std::string message(const std::string& bytes) {
  return error_of([&] { open_bytes(std::as_bytes(std::span(bytes))); });
}

std::string text(const std::string& value) {
  std::string out;
  put_little(out, std::uint64_t{value.size()});
  return out + value;
}

template <class... Number>
std::string numbers(Number... number) {
  std::string out;
  (put_little(out, number), ...);
  return out;
}

/// A file by hand: counts, then metadata and table as given, padded, then the data.
std::string gguf(std::uint64_t tensors, std::uint64_t values, const std::string& body,
                 const std::string& data = {}, std::uint32_t version = 3, std::size_t alignment = 32) {
  std::string out = "GGUF" + numbers(version, tensors, values) + body;
  if (tensors > 0) out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
  return out + data;
}

/// A table row of two dimensions.
std::string row(const std::string& name, std::uint64_t fast, std::uint64_t slow, std::uint32_t type,
                std::uint64_t offset) {
  return text(name) + numbers(std::uint32_t{2}, fast, slow, type, offset);
}

std::string value_message(const std::string& value) {
  return message(gguf(0, 1, text("key") + value));
}

}  // namespace

TEST_GROUP(Gguf) {
  TemporaryFolder folder;
  const std::array<float, 6> floats = {1, -2, 0x1p-149F, 0.1F, 3e38F, -0.0F};
  const std::array<double, 3> doubles = {0.1, -0x1p-1074, 1e300};

  std::string write() const {
    GgufWriter writer(folder / "w.gguf");
    writer.set("general.architecture", "gpt2");
    writer.set("gpt2.block_count", std::uint32_t{12});
    writer.set("gpt2.attention.layer_norm_epsilon", 1e-5F);
    writer.set("flag", true);
    writer.set("tokens", std::vector<std::string>{"a", "", "\xc4\xa0 b"});
    writer.set("types", std::vector<std::int32_t>{1, -3});
    writer.declare("f", StoredType::kF32, {3, 2});
    writer.declare("d", StoredType::kF64, {3});
    writer.declare("none", StoredType::kF32, {0});
    writer.declare("last", StoredType::kF32, {1, 1, 2, 3});
    writer.append("last", std::as_bytes(std::span(floats)));
    writer.append("f", std::as_bytes(std::span(floats)).first(5));
    writer.append("d", std::as_bytes(std::span(doubles)));
    writer.append("f", std::as_bytes(std::span(floats)).subspan(5));
    writer.commit();
    std::ifstream file(folder / "w.gguf", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST(Gguf, RoundTripKeepsEveryBitAndAlignsData) {
  const std::string bytes = write();
  CHECK_EQUAL(0U, bytes.size() % 32);
  const GgufFile file = open_bytes(std::as_bytes(std::span(bytes)));
  CHECK_EQUAL(6U, file.values().size());
  STRCMP_EQUAL("gpt2", file.value<std::string>("general.architecture")->c_str());
  CHECK_EQUAL(12U, *file.value<std::uint32_t>("gpt2.block_count"));
  CHECK_TRUE(file.value<std::int32_t>("gpt2.block_count") == nullptr);
  CHECK_TRUE(*file.value<float>("gpt2.attention.layer_norm_epsilon") == 1e-5F);
  CHECK_TRUE(*file.value<bool>("flag"));
  CHECK_TRUE(
      (*file.value<std::vector<std::string>>("tokens") == std::vector<std::string>{"a", "", "\xc4\xa0 b"}));
  CHECK_TRUE((*file.value<std::vector<std::int32_t>>("types") == std::vector<std::int32_t>{1, -3}));
  CHECK_TRUE(file.value<std::string>("missing") == nullptr);

  CHECK_EQUAL(4U, file.tensors().size());
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  for (const StoredTensor& tensor : file.tensors()) CHECK_EQUAL(0, (tensor.bytes.data() - begin) % 32);
  MEMCMP_EQUAL(floats.data(), file.require("f", Shape{3, 2}).bytes.data(), sizeof(floats));
  MEMCMP_EQUAL(doubles.data(), file.require("d", Shape{3}).bytes.data(), sizeof(doubles));
  MEMCMP_EQUAL(floats.data(), file.require("last", Shape{1, 1, 2, 3}).bytes.data(), sizeof(floats));
  CHECK_EQUAL(4U, GgufFile(folder / "w.gguf").tensors().size());
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST(Gguf, DimensionsAreStoredFastestFirst) {
  const std::string bytes = write();
  CHECK_TRUE(bytes.find(text("f") + numbers(std::uint32_t{2}, std::uint64_t{2}, std::uint64_t{3})) !=
             std::string::npos);
}

TEST(Gguf, EveryTypeOfMetadataRoundTrips) {
  const GgufValue values[] = {
      std::uint8_t{255},
      std::int8_t{-128},
      std::uint16_t{65535},
      std::int16_t{-32768},
      ~std::uint32_t{0},
      std::int32_t{-7},
      0.1F,
      false,
      std::string("\0x", 2),
      ~std::uint64_t{0},
      std::int64_t{-7},
      0.1,
      std::vector<std::uint8_t>{1, 255},
      std::vector<std::int8_t>{-1},
      std::vector<std::uint16_t>{65535},
      std::vector<std::int16_t>{-2},
      std::vector<std::uint32_t>{},
      std::vector<std::int32_t>{-3},
      std::vector<float>{0.1F},
      std::vector<bool>{true, false},
      std::vector<std::string>{"x"},
      std::vector<std::uint64_t>{~std::uint64_t{0}},
      std::vector<std::int64_t>{-4},
      std::vector<double>{0.1},
  };
  GgufWriter writer(folder / "w.gguf");
  for (const GgufValue& value : values) writer.set("k" + std::to_string(value.index()), value);
  writer.commit();
  const GgufFile file(folder / "w.gguf");
  CHECK_EQUAL(std::variant_size_v<GgufValue>, file.values().size());
  for (const GgufValue& value : values) {
    CHECK_TRUE(file.values().at("k" + std::to_string(value.index())) == value);
  }
}

TEST(Gguf, NothingAppearsWithoutCommit) {
  {
    GgufWriter writer(folder / "w.gguf");
    writer.declare("d", StoredType::kF64, {3});
    writer.append("d", std::as_bytes(std::span(doubles)));
  }
  CHECK_EQUAL(0U, folder.entry_count());
}

TEST(Gguf, WriterMisuseIsNamed) {
  GgufWriter writer(folder / "w.gguf");
  const auto bytes = std::as_bytes(std::span(doubles));
  writer.set("k", true);
  CHECK_THROWS(std::logic_error, writer.set("k", true));
  CHECK_THROWS(std::logic_error, writer.set("", true));
  CHECK_THROWS(std::logic_error, writer.set("general.alignment", std::uint32_t{64}));
  writer.declare("d", StoredType::kF64, {3});
  CHECK_THROWS(std::logic_error, writer.declare("d", StoredType::kF64, {3}));
  CHECK_THROWS(std::logic_error, writer.declare("h", StoredType::kF16, {3}));
  CHECK_THROWS(std::logic_error, writer.declare("s", StoredType::kF32, {}));
  CHECK_THROWS(std::logic_error, writer.declare("s", StoredType::kF32, {1, 1, 1, 1, 1}));
  CHECK_THROWS(std::logic_error, writer.declare("s", StoredType::kF32, {1ULL << 62}));
  CHECK_THROWS(std::logic_error, writer.declare(std::string(64, 'n'), StoredType::kF32, {1}));
  CHECK_THROWS(std::logic_error, writer.append("x", bytes));
  writer.append("d", bytes.first(20));
  CHECK_THROWS(std::logic_error, writer.append("d", bytes.first(5)));
  CHECK_THROWS(std::logic_error, writer.set("late", true));
  CHECK_THROWS(std::logic_error, writer.declare("late", StoredType::kF32, {1}));
  CHECK_THROWS(std::logic_error, writer.commit());
}

TEST(Gguf, ReadsHalvesScalarsAndOtherAlignments) {
  const std::string alignment = text("general.alignment") + numbers(std::uint32_t{4}, std::uint32_t{8});
  const std::string table =
      row("h", 2, 1, 1, 0) + text("s") + numbers(std::uint32_t{0}, std::uint32_t{30}, std::uint64_t{8});
  const std::string bytes = gguf(2, 1, alignment + table, "abcd....ef", 3, 8);
  const GgufFile file = open_bytes(std::as_bytes(std::span(bytes)));
  const StoredTensor& half = file.require("h", Shape{1, 2});
  CHECK_TRUE(half.type == StoredType::kF16);
  MEMCMP_EQUAL("abcd", half.bytes.data(), 4);
  const StoredTensor& scalar = file.require("s", {});
  CHECK_TRUE(scalar.type == StoredType::kBF16);
  MEMCMP_EQUAL("ef", scalar.bytes.data(), 2);
}

TEST(Gguf, RefusesBadFilesWithTheirReason) {
  const std::string four(4, 'x');
  STRCMP_EQUAL("no error", message(gguf(1, 0, row("w", 1, 1, 0, 0), four)).c_str());
  STRCMP_EQUAL("no error", message(gguf(1, 0, row("w", 1, 1, 0, 0), std::string(32, 'x'))).c_str());
  STRCMP_CONTAINS("t.gguf: does not begin with GGUF", message("PK\3\4").c_str());
  STRCMP_CONTAINS("is GGUF version 2", message(gguf(0, 0, "", "", 2)).c_str());
  STRCMP_CONTAINS("is GGUF version 50331648", message(gguf(0, 0, "", "", 3U << 24)).c_str());
  STRCMP_CONTAINS("ends inside a metadata key", message(gguf(0, 1, "")).c_str());
  STRCMP_CONTAINS("ends inside a metadata key", message(gguf(0, 1, numbers(~std::uint64_t{0}))).c_str());
  STRCMP_CONTAINS("ends inside a tensor's name", message("GGUF" + numbers(3U, ~0ULL, 0ULL)).c_str());
  STRCMP_CONTAINS("has a key of 0 bytes", message(gguf(0, 1, text("") + numbers(0U, 'x'))).c_str());
  const std::string flag = text("a") + numbers(std::uint32_t{7}, char{1});
  STRCMP_CONTAINS("metadata 'a' stands twice", message(gguf(0, 2, flag + flag)).c_str());
  STRCMP_CONTAINS("has the type 13", value_message(numbers(std::uint32_t{13})).c_str());
  STRCMP_CONTAINS("has the type 9", value_message(numbers(9U, 9U, 1ULL, 0U, 0ULL)).c_str());
  STRCMP_CONTAINS("neither 0 nor 1", value_message(numbers(std::uint32_t{7}, char{2})).c_str());
  STRCMP_CONTAINS("states 2305843009213693952 elements", value_message(numbers(9U, 4U, 1ULL << 61)).c_str());
  STRCMP_CONTAINS("states 2 elements", value_message(numbers(9U, 8U, 2ULL, 0ULL)).c_str());
  const auto aligned = [](auto number, std::uint32_t type) {
    return message(gguf(0, 1, text("general.alignment") + numbers(type, number)));
  };
  STRCMP_CONTAINS("general.alignment is not", aligned(std::uint32_t{24}, 4).c_str());
  STRCMP_CONTAINS("general.alignment is not", aligned(std::uint32_t{0}, 4).c_str());
  STRCMP_CONTAINS("general.alignment is not", aligned(std::int32_t{32}, 5).c_str());
}

TEST(Gguf, RefusesBadTensorsWithTheirReason) {
  const std::string four(4, 'x');
  const auto contains = [](const char* part, const std::string& actual) {
    STRCMP_CONTAINS(part, actual.c_str());
  };
  contains("tensor 'w' has the ggml type 2", message(gguf(1, 0, row("w", 32, 1, 2, 0), four)));
  contains("a tensor has an empty name", message(gguf(1, 0, row("", 1, 1, 0, 0), four)));
  contains("has 5 dimensions", message(gguf(1, 0, text("w") + numbers(5U), four)));
  contains("more bytes than 64 bits can count",
           message(gguf(1, 0, row("w", 1ULL << 32, 1ULL << 32, 0, 0), four)));
  contains("reaches past the end", message(gguf(1, 0, row("w", 1ULL << 61, 1, 0, 0), four)));
  contains("reaches past the end", message(gguf(1, 0, row("w", 2, 1, 0, 0), four)));
  contains("begins at byte 32 of the data, but", message(gguf(1, 0, row("w", 1, 1, 0, 32), four)));
  const std::string first = row("a", 1, 1, 0, 0);
  contains("begins at byte 0 of the data, but",
           message(gguf(2, 0, first + row("b", 1, 1, 0, 0), std::string(64, 'x'))));
  contains("tensor 'a' stands twice",
           message(gguf(2, 0, first + row("a", 1, 1, 0, 32), std::string(64, 'x'))));
  contains("but its tensors end at byte", message(gguf(1, 0, first, std::string(33, 'x'))));
  contains("but its tensors end at byte", message(gguf(0, 0, "", std::string(40, 'x'))));
}

TEST(Gguf, DamageIsRefusedOrHarmless) {
  const std::string good = write();
  CHECK_FALSE(refused(good, open_bytes));
  // The last tensor takes 24 bytes; the 8 bytes of padding behind it may be missing.
  CHECK_EQUAL(good.size() - 8, refused_truncations(good, open_bytes));
  CHECK_TRUE(refused_changes(good, open_bytes) > good.size());
}
