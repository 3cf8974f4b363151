#include "tools/files/safetensors.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/files/safetensors_bytes.hpp"
#include "tests/files/temporary_folder.hpp"

#include "CppUTest/TestHarness.h"

using thimble::first_non_finite;
using thimble::float_from_bfloat16;
using thimble::float_from_half;
using thimble::place_text;
using thimble::SafetensorsFile;
using thimble::shape_text;
using thimble::StoredTensor;
using thimble::StoredType;
using thimble::test::error_of;
using thimble::test::number_bytes;
using thimble::test::safetensors_bytes;
using thimble::test::TemporaryFolder;

TEST_GROUP(Safetensors) {
  TemporaryFolder folder;

  SafetensorsFile open(std::string_view header, std::string_view data) const {
    return SafetensorsFile(folder.file("t.safetensors", safetensors_bytes(header, data)));
  }
};

TEST(Safetensors, ReadsNamesShapesMetadataAndValues) {
  const SafetensorsFile file = open(R"({"__metadata__":{"format":"pt","note":"a\nb"},)"
                                    R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                                    R"("b":{"dtype":"F64","shape":[],"data_offsets":[24,32]}}   )",
                                    number_bytes<float>({1, 2, 3, 4, 5, 6}) + number_bytes<double>({0.1}));
  CHECK_EQUAL(2U, file.tensors().size());
  STRCMP_EQUAL("a\nb", file.metadata().at("note").c_str());
  const std::array<std::uint64_t, 2> shape = {2, 3};
  std::array<float, 6> w{};
  file.read_into<float>(file.require("w", shape), w);
  CHECK_TRUE((w == std::array<float, 6>{1, 2, 3, 4, 5, 6}));
  double b = 0;
  file.read_into<double>(file.require("b", {}), std::span(&b, 1));
  CHECK_TRUE(b == 0.1);
  CHECK_TRUE(file.find("x") == nullptr);
}

TEST(Safetensors, AcceptsNoTensorsAndEmptyTensors) {
  CHECK_TRUE(open("{}", "").tensors().empty());
  const SafetensorsFile file =
      open(R"({"e":{"dtype":"F32","shape":[0,9223372036854775807,4],"data_offsets":[0,0]},)"
           R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
           "x");
  CHECK_EQUAL(0U, file.find("e")->element_count());
  file.read_into<float>(*file.find("e"), std::span<float>());
}

TEST(Safetensors, KnowsEveryTypeOfTheFormat) {
  const std::pair<const char*, std::size_t> types[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"I64", 8},     {"U64", 8}, {"F64", 8},
  };
  for (const auto& [name, size] : types) {
    const std::string header = std::string(R"({"t":{"dtype":")") + name +
                               R"(","shape":[3],"data_offsets":[0,)" + std::to_string(3 * size) + "]}}";
    const SafetensorsFile file = open(header, std::string(3 * size, '\0'));
    CHECK_EQUAL(3U, file.tensors()[0].element_count());
    CHECK_TRUE(thimble::stored_type_name(file.tensors()[0].type) == name);
  }
}

TEST(Safetensors, ReadsAtAnyAlignment) {
  // A header of odd length and a one-byte tensor before the doubles: legal, and never loaded by a plain
  // pointer.
  const SafetensorsFile file = open(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                    R"("w":{"dtype":"F64","shape":[2],"data_offsets":[1,17]}} )",
                                    std::string("x").append(number_bytes<double>({1.5, -2.5})));
  std::array<double, 2> w{};
  file.read_into<double>(*file.find("w"), w);
  CHECK_TRUE((w == std::array<double, 2>{1.5, -2.5}));
}

TEST(Safetensors, KeepsHeaderOrderWhateverTheOffsets) {
  const SafetensorsFile file = open(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                                    R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                    "ab");
  STRCMP_EQUAL("b", file.tensors()[0].name.c_str());
  CHECK_TRUE(file.find("b")->bytes[0] == std::byte{'b'});
  CHECK_TRUE(file.find("a")->bytes[0] == std::byte{'a'});
}

TEST(Safetensors, StaysWholeWhenMoved) {
  SafetensorsFile first = open(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "a");
  const SafetensorsFile second = std::move(first);
  CHECK_TRUE(second.find("a")->bytes[0] == std::byte{'a'});
}

TEST(Safetensors, MissingTensorNamesNearestOne) {
  const SafetensorsFile file =
      open(R"({"h.0.ln_1.weight":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "a");
  STRCMP_CONTAINS("has no tensor 'h.0.ln1.weight'; did you mean 'h.0.ln_1.weight'?",
                  error_of([&] { file.require("h.0.ln1.weight", {}); }).c_str());
}

TEST(Safetensors, WrongShapeNamesBothShapes) {
  const SafetensorsFile file = open(R"({"w":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]}})", "abcdef");
  const std::array<std::uint64_t, 2> swapped = {3, 2};
  STRCMP_CONTAINS("tensor 'w' has the shape [2, 3], but the model needs [3, 2]",
                  error_of([&] { file.require("w", swapped); }).c_str());
  const std::array<std::uint64_t, 1> shorter = {2};
  STRCMP_CONTAINS("but the model needs [2]", error_of([&] { file.require("w", shorter); }).c_str());
}

TEST(Safetensors, RefusesWrongBufferAndIntegers) {
  const SafetensorsFile file = open(R"({"w":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})", "abcdefgh");
  std::array<float, 3> out{};
  STRCMP_CONTAINS("tensor 'w' has 2 elements, but 3 are needed",
                  error_of([&] { file.read_into<float>(file.tensors()[0], out); }).c_str());
  STRCMP_CONTAINS(
      "tensor 'w' is I32, which is not converted",
      error_of([&] { file.read_into<float>(file.tensors()[0], std::span(out).first(2)); }).c_str());
}

TEST(Safetensors, DoubleToFloatRoundsAndRefusesOverflow) {
  const SafetensorsFile file = open(R"({"w":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]}})",
                                    number_bytes<double>({0.1, -1e39}));
  std::array<double, 2> exact{};
  file.read_into<double>(file.tensors()[0], exact);
  CHECK_TRUE(exact[1] == -1e39);
  std::array<float, 2> rounded{};
  STRCMP_CONTAINS("tensor 'w' has a value too large for F32 at [0, 1]",
                  error_of([&] { file.read_into<float>(file.tensors()[0], rounded); }).c_str());
  CHECK_TRUE(rounded[0] == 0.1F);
}

TEST(Safetensors, HalfBitsDecodeExactly) {
  CHECK_TRUE(float_from_half(0x3c00) == 1.0F);
  CHECK_TRUE(float_from_half(0xc000) == -2.0F);
  CHECK_TRUE(float_from_half(0x7bff) == 65504.0F);
  CHECK_TRUE(float_from_half(0x0400) == 0x1p-14F);
  CHECK_TRUE(float_from_half(0x03ff) == 1023 * 0x1p-24F);
  CHECK_TRUE(float_from_half(0x0001) == 0x1p-24F);
  CHECK_TRUE(float_from_half(0x8000) == 0.0F && std::signbit(float_from_half(0x8000)));
  CHECK_TRUE(float_from_half(0x7c00) == std::numeric_limits<float>::infinity());
  CHECK_TRUE(float_from_half(0xfc00) == -std::numeric_limits<float>::infinity());
  CHECK_TRUE(std::isnan(float_from_half(0x7c01)));
}

TEST(Safetensors, EveryHalfAgreesWithItsDefinition) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>((bits >> 10) & 31);
    if (exponent == 31) continue;
    const int fraction = static_cast<int>(bits & 1023);
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    const double expected = (bits & 0x8000) != 0 ? -magnitude : magnitude;
    CHECK_TRUE(static_cast<double>(float_from_half(static_cast<std::uint16_t>(bits))) == expected);
  }
}

TEST(Safetensors, BfloatIsUpperHalfOfFloat) {
  CHECK_TRUE(float_from_bfloat16(0x3f80) == 1.0F);
  CHECK_TRUE(float_from_bfloat16(0xc049) == -3.140625F);
  CHECK_TRUE(std::isnan(float_from_bfloat16(0x7fc0)));
}

TEST(Safetensors, ReadsHalvesIntoFloatAndDouble) {
  const SafetensorsFile file = open(R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                                    R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]}})",
                                    number_bytes<std::uint16_t>({0x3c00, 0x0001, 0xc049}));
  std::array<double, 2> h{};
  file.read_into<double>(*file.find("h"), h);
  CHECK_TRUE(h[0] == 1.0 && h[1] == 0x1p-24);
  float b = 0;
  file.read_into<float>(*file.find("b"), std::span(&b, 1));
  CHECK_TRUE(b == -3.140625F);
}

TEST(Safetensors, FindsFirstNonFiniteValueOfEveryFloatType) {
  const auto inf = std::numeric_limits<double>::infinity();
  const SafetensorsFile file = open(R"({"d":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},)"
                                    R"("f":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},)"
                                    R"("h":{"dtype":"F16","shape":[2],"data_offsets":[24,28]},)"
                                    R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[28,32]},)"
                                    R"("i":{"dtype":"I32","shape":[1],"data_offsets":[32,36]},)"
                                    R"("ok":{"dtype":"F32","shape":[1],"data_offsets":[36,40]}})",
                                    number_bytes<double>({1, inf}) + number_bytes<float>({std::nanf(""), 1}) +
                                        number_bytes<std::uint16_t>({0x7bff, 0x7c00, 0x7f80, 0}) +
                                        number_bytes<std::uint32_t>({0x7fc00000}) +
                                        number_bytes<float>({std::numeric_limits<float>::max()}));
  CHECK_TRUE(first_non_finite(*file.find("d")) == 1U);
  CHECK_TRUE(first_non_finite(*file.find("f")) == 0U);
  CHECK_TRUE(first_non_finite(*file.find("h")) == 1U);
  CHECK_TRUE(first_non_finite(*file.find("b")) == 0U);
  CHECK_FALSE(first_non_finite(*file.find("i")).has_value());
  CHECK_FALSE(first_non_finite(*file.find("ok")).has_value());
}

TEST(Safetensors, FindsFirstNonFiniteValueInMemory) {
  const std::array<float, 3> values = {1, 2, std::nanf("")};
  CHECK_TRUE(first_non_finite(std::span<const float>(values)) == 2U);
  CHECK_FALSE(first_non_finite(std::span<const float>(values).first(2)).has_value());
  const std::array<double, 1> infinite = {-std::numeric_limits<double>::infinity()};
  CHECK_TRUE(first_non_finite(std::span<const double>(infinite)) == 0U);
}

TEST(Safetensors, PlacesReadRowMajor) {
  const std::array<std::uint64_t, 3> shape = {2, 3, 4};
  STRCMP_EQUAL("[1, 2, 3]", place_text(shape, 23).c_str());
  STRCMP_EQUAL("[0, 1, 0]", place_text(shape, 4).c_str());
  STRCMP_EQUAL("[]", place_text({}, 0).c_str());
  STRCMP_EQUAL("[2, 3, 4]", shape_text(shape).c_str());
}
