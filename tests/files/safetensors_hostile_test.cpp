#include <cstdint>
#include <string>

#include "tests/files/damage.hpp"
#include "tests/files/safetensors_bytes.hpp"
#include "tests/files/temporary_folder.hpp"
#include "tools/files/safetensors.hpp"

#include "CppUTest/TestHarness.h"

using thimble::SafetensorsFile;
using thimble::test::error_of;
using thimble::test::length_bytes;
using thimble::test::safetensors_bytes;
using thimble::test::TemporaryFolder;

TEST_GROUP(HostileSafetensors) {
  TemporaryFolder folder;

  std::string open_error(std::string_view contents) const {
    const auto path = folder.file("t.safetensors", contents);
    return error_of([&] { SafetensorsFile file(path); });
  }

  std::string header_error(std::string_view header, std::size_t data_bytes = 0) const {
    return open_error(safetensors_bytes(header, std::string(data_bytes, 'x')));
  }

  /// One tensor 'w' with this inside.
  std::string tensor_error(std::string_view fields, std::size_t data_bytes = 0) const {
    return header_error("{\"w\":{" + std::string(fields) + "}}", data_bytes);
  }

  void contains(const char* part, const std::string& message) const {
    STRCMP_CONTAINS(part, message.c_str());
    STRCMP_CONTAINS("t.safetensors: ", message.c_str());
  }
};

TEST(HostileSafetensors, NamesWhatIsNotAFile) {
  STRCMP_CONTAINS("none.safetensors: cannot be opened: No such file",
                  error_of([&] { SafetensorsFile file(folder / "none.safetensors"); }).c_str());
  STRCMP_CONTAINS("is a folder", error_of([&] { SafetensorsFile file(folder / ""); }).c_str());
  STRCMP_CONTAINS("/dev/zero: is not a regular file",
                  error_of([] { SafetensorsFile file("/dev/zero"); }).c_str());
}

TEST(HostileSafetensors, RefusesShortFiles) {
  contains("is empty", open_error(""));
  contains("has only 7 bytes", open_error(length_bytes(2).substr(0, 7)));
  contains("has only 1 bytes", open_error("{"));
}

TEST(HostileSafetensors, RefusesHeaderLengthBeyondFile) {
  contains("states a header of 3 bytes, but only 2 follow", open_error(length_bytes(3) + "{}"));
  contains("states a header of 100000000 bytes, but only 2 follow",
           open_error(length_bytes(100'000'000) + "{}"));
}

TEST(HostileSafetensors, RefusesHeaderLengthBeyondFormat) {
  contains("states a header of 100000001 bytes", open_error(length_bytes(100'000'001) + "{}"));
  contains("states a header of 18446744073709551615 bytes",
           open_error(length_bytes(~std::uint64_t{0}) + "{}"));
  contains("is this a safetensors file?", open_error("PK\3\4 a zip file by name of weights"));
}

TEST(HostileSafetensors, RefusesBadJson) {
  contains("does not begin with '{'", header_error(""));
  contains("does not begin with '{'", header_error("  {}"));
  contains("does not begin with '{'", header_error("[]"));
  contains("bad JSON: parse error", header_error("{"));
  contains("bad JSON", header_error("{}{}"));
  contains("bad JSON", header_error("{\"a\xff\":{}}"));
  contains("bad JSON", header_error(std::string("{}\0}", 4)));
}

TEST(HostileSafetensors, RefusesWrongKindsWithTheirPlace) {
  contains("header field 'w' is the number 1, not an object", header_error("{\"w\":1}"));
  contains("header field 'w' is an array, not an object", header_error("{\"w\":[]}"));
  contains("header field 'w' is null", header_error("{\"w\":null}"));
  contains("__metadata__ 'a' is the number 1, not a text", header_error("{\"__metadata__\":{\"a\":1}}"));
  contains("__metadata__ 'a' is an object, not a text", header_error("{\"__metadata__\":{\"a\":{}}}"));
  contains("tensor 'w' has the number 4 as dtype", tensor_error("\"dtype\":4"));
  contains("tensor 'w' has an object as shape", tensor_error("\"shape\":{}"));
  contains("tensor 'w' has the text '2' as shape", tensor_error("\"shape\":\"2\""));
  contains("tensor 'w' has the negative number -1 in its shape", tensor_error("\"shape\":[-1]"));
  contains("tensor 'w' has the number 1.5 in its shape", tensor_error("\"shape\":[1.5]"));
  contains("tensor 'w' has an array in its shape", tensor_error("\"shape\":[[1]]"));
  contains("tensor 'w' has a boolean in its data_offsets", tensor_error("\"data_offsets\":[true,1]"));
  contains("tensor 'w' has the number 18446744073709551616 in its shape",
           tensor_error("\"shape\":[18446744073709551616]"));
}

TEST(HostileSafetensors, RefusesMissingAndUnknownFields) {
  contains("tensor 'w' has no dtype", tensor_error(""));
  contains("tensor 'w' has no shape", tensor_error(R"("dtype":"F32")"));
  contains("tensor 'w' has no data_offsets", tensor_error(R"("dtype":"F32","shape":[])"));
  contains("tensor 'w' has the unknown field 'type'", tensor_error(R"("type":"F32")"));
}

TEST(HostileSafetensors, RefusesRepeatedNames) {
  const std::string one = R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  contains("the header has the name 'w' twice", header_error("{" + one + "," + one + "}", 1));
  contains("the header has the name '__metadata__' twice",
           header_error(R"({"__metadata__":{},"__metadata__":{}})"));
  contains("__metadata__ has 'a' twice", header_error(R"({"__metadata__":{"a":"1","a":"2"}})"));
  contains("tensor 'w' has the field 'shape' twice", tensor_error(R"("shape":[1],"shape":[2])"));
  // The same name in another spelling.
  contains("the header has the name 'w' twice",
           header_error("{" + one + R"(,"\u0077":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
}

TEST(HostileSafetensors, RefusesUnknownType) {
  contains("tensor 'w' has the unknown dtype 'F33'; did you mean 'F32'?", tensor_error(R"("dtype":"F33")"));
  contains("unknown dtype 'f32'; did you mean 'F32'?", tensor_error(R"("dtype":"f32")"));
  contains("unknown dtype 'complex128'", tensor_error(R"("dtype":"complex128")"));
}

TEST(HostileSafetensors, RefusesWrongByteCount) {
  contains("tensor 'w' takes 24 bytes ([2, 3] of F32), but its data_offsets [0, 16] hold 16",
           tensor_error(R"("dtype":"F32","shape":[2,3],"data_offsets":[0,16])", 16));
  contains("tensor 'w' takes 4 bytes ([] of F32), but its data_offsets [0, 0] hold 0",
           tensor_error(R"("dtype":"F32","shape":[],"data_offsets":[0,0])"));
  contains("tensor 'w' takes 0 bytes ([0] of F32), but its data_offsets [0, 4] hold 4",
           tensor_error(R"("dtype":"F32","shape":[0],"data_offsets":[0,4])", 4));
}

TEST(HostileSafetensors, RefusesShapeOverflow) {
  // 2^62 elements of 4 bytes wrap to 0 in 64 bits.
  contains("tensor 'w' has the shape [4611686018427387904] of F32, more bytes than 64 bits can count",
           tensor_error(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])"));
  contains("more bytes than 64 bits can count",
           tensor_error(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])"));
  contains(
      "tensor 'w' at data_offsets [0, 18446744073709551615] reaches past the end",
      tensor_error(R"("dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,18446744073709551615])"));
}

TEST(HostileSafetensors, RefusesBadOffsets) {
  contains("tensor 'w' has 1 data_offsets instead of two",
           tensor_error(R"("dtype":"U8","shape":[1],"data_offsets":[0])", 1));
  contains("tensor 'w' has more than two data_offsets",
           tensor_error(R"("dtype":"U8","shape":[1],"data_offsets":[0,1,2])", 1));
  contains("tensor 'w' ends before it begins: data_offsets [1, 0]",
           tensor_error(R"("dtype":"U8","shape":[1],"data_offsets":[1,0])", 1));
}

TEST(HostileSafetensors, RefusesDataThatDoNotFitTheFile) {
  const char* fields = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  contains("tensor 'w' at data_offsets [0, 8] reaches past the end of the file, which holds 7 bytes of data",
           tensor_error(fields, 7));
  contains("the tensors end at byte 8 of the data, but the file holds 9 bytes", tensor_error(fields, 9));
  contains("the tensors end at byte 0 of the data, but the file holds 1 bytes", header_error("{}", 1));
}

TEST(HostileSafetensors, RefusesOverlapAndGap) {
  const std::string first = R"({"first":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)";
  contains("tensor 'w' at data_offsets [2, 6] overlaps: tensor 'first' ends at 4",
           header_error(first + R"("w":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6));
  contains("tensor 'w' at data_offsets [0, 4] overlaps: tensor 'first' ends at 4",
           header_error(first + R"("w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4));
  contains("tensor 'w' at data_offsets [5, 6] leaves a gap: tensor 'first' ends at 4",
           header_error(first + R"("w":{"dtype":"U8","shape":[1],"data_offsets":[5,6]}})", 6));
  contains("tensor 'w' at data_offsets [1, 2] leaves a gap: the data begin at 0",
           tensor_error(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])", 2));
}

TEST(HostileSafetensors, DeepNestingCostsNothing) {
  std::string header = "{\"w\":";
  header.append(10'000'000, '[');
  contains("header field 'w' is an array, not an object", header_error(header));
}

TEST(HostileSafetensors, NamesInMessagesAreEscapedAndCut) {
  const std::string message = header_error("{\"\\u001b[2J" + std::string(5000, 'n') + "\":1}");
  contains("'\\x1b[2Jnnn", message);
  CHECK_TRUE(message.size() < 300);
}

TEST_GROUP(DamagedSafetensors) {
  TemporaryFolder folder;
  const std::string good = safetensors_bytes(
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]}})",
      std::string(22, '\1'));

  /// Opens and reads all of a file that may be broken; true when it was refused with an Error.
  bool refused(const std::string& contents) const {
    const auto path = folder.file("t.safetensors", contents);
    try {
      const SafetensorsFile file(path);
      for (const thimble::StoredTensor& tensor : file.tensors()) {
        std::size_t sum = 0;  // touches every byte the file promises
        for (const std::byte byte : tensor.bytes) sum += std::to_integer<std::size_t>(byte);
        CHECK_TRUE(sum <= 255 * tensor.bytes.size());
        first_non_finite(tensor);
      }
      return false;
    } catch (const thimble::Error&) {
      return true;
    }
  }
};

TEST(DamagedSafetensors, EveryTruncationIsRefused) {
  CHECK_FALSE(refused(good));
  for (std::size_t size = 0; size < good.size(); ++size) CHECK_TRUE(refused(good.substr(0, size)));
}

TEST(DamagedSafetensors, AnyChangedBitIsReadOrRefusedButNeverCrashes) {
  std::size_t refused_count = 0;
  for (std::size_t i = 0; i < good.size() * 8; ++i) {
    std::string bad = good;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    refused_count += refused(bad);
  }
  CHECK_TRUE(refused_count > 8 * 8);  // at the least every bit of the length
}

TEST(DamagedSafetensors, BytesInMemoryAreReadLikeAFile) {
  const auto open = [](std::span<const std::byte> bytes) {
    return SafetensorsFile::from_bytes(bytes, "t.safetensors");
  };
  const SafetensorsFile file = open(std::as_bytes(std::span(good)));
  CHECK_EQUAL(2U, file.tensors().size());
  STRCMP_EQUAL("v", file.metadata().at("k").c_str());
  CHECK_FALSE(thimble::test::refused(good, open));
  CHECK_EQUAL(good.size(), thimble::test::refused_truncations(good, open));
  CHECK_TRUE(thimble::test::refused_changes(good, open) > 8 * 8);
}

TEST(DamagedSafetensors, AnyByteInsertedOrRemovedIsRefused) {
  for (std::size_t i = 0; i < good.size(); ++i) {
    CHECK_TRUE(refused(std::string(good).erase(i, 1)));
    CHECK_TRUE(refused(std::string(good).insert(i, 1, '\1')));
  }
}
