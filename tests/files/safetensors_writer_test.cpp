#include "tools/files/safetensors_writer.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include "tests/files/temporary_folder.hpp"
#include "tools/files/safetensors.hpp"

#include "CppUTest/TestHarness.h"

using thimble::SafetensorsFile;
using thimble::SafetensorsWriter;
using thimble::StoredTensor;
using thimble::StoredType;
using thimble::test::error_of;
using thimble::test::TemporaryFolder;

TEST_GROUP(SafetensorsWriter) {
  TemporaryFolder folder;
  const std::array<float, 4> floats = {1, -2, 0x1p-149F, 0.1F};
  const std::array<double, 3> doubles = {0.1, -0x1p-1074, 1e300};

  static std::string misuse_of(auto call) {
    try {
      call();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST(SafetensorsWriter, RoundTripKeepsEveryBit) {
  const auto path = folder / "w.safetensors";
  SafetensorsWriter writer(path);
  writer.set_metadata("format", "pt");
  writer.set_metadata("tokenizer", R"({"type":"bytes"})");
  writer.declare("f", StoredType::kF32, {2, 2});
  writer.declare("d", StoredType::kF64, {3});
  writer.declare("none", StoredType::kF32, {0});
  writer.append("d", std::span(doubles).first(1));
  writer.append("f", floats);
  writer.append("d", std::span(doubles).subspan(1));
  writer.commit();

  const SafetensorsFile file(path);
  STRCMP_EQUAL("pt", file.metadata().at("format").c_str());
  STRCMP_EQUAL(R"({"type":"bytes"})", file.metadata().at("tokenizer").c_str());
  CHECK_EQUAL(3U, file.tensors().size());
  STRCMP_EQUAL("f", file.tensors()[0].name.c_str());
  std::array<float, 4> f{};
  file.read_into<float>(*file.find("f"), f);
  CHECK_TRUE(f == floats);
  std::array<double, 3> d{};
  file.read_into<double>(*file.find("d"), d);
  CHECK_TRUE(d == doubles);
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST(SafetensorsWriter, EveryTensorIsAligned) {
  const auto path = folder / "w.safetensors";
  SafetensorsWriter writer(path);
  writer.declare("odd", StoredType::kF32, {1});
  writer.declare("d", StoredType::kF64, {1});
  writer.append("odd", std::span(floats).first(1));
  writer.append("d", std::span(doubles).first(1));
  writer.commit();
  const SafetensorsFile file(path);
  for (const StoredTensor& tensor : file.tensors()) {
    // The mapping begins at a page, so addresses show the place in the file.
    CHECK_EQUAL(0U, reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % stored_type_bytes(tensor.type));
  }
}

TEST(SafetensorsWriter, FileWithoutTensorsIsValid) {
  SafetensorsWriter writer(folder / "w.safetensors");
  writer.commit();
  CHECK_TRUE(SafetensorsFile(folder / "w.safetensors").tensors().empty());
}

TEST(SafetensorsWriter, NothingAppearsWithoutCommit) {
  {
    SafetensorsWriter writer(folder / "w.safetensors");
    writer.declare("f", StoredType::kF32, {4});
    writer.append("f", floats);
  }
  CHECK_EQUAL(0U, folder.entry_count());
}

TEST(SafetensorsWriter, IncompleteTensorIsNotCommitted) {
  SafetensorsWriter writer(folder / "w.safetensors");
  writer.declare("f", StoredType::kF32, {5});
  writer.append("f", floats);
  STRCMP_CONTAINS("tensor 'f' got 16 of 20 bytes", misuse_of([&] { writer.commit(); }).c_str());
  CHECK_FALSE(std::filesystem::exists(folder / "w.safetensors"));
}

TEST(SafetensorsWriter, MisuseIsNamed) {
  SafetensorsWriter writer(folder / "w.safetensors");
  writer.declare("f", StoredType::kF32, {3});
  STRCMP_CONTAINS("declared twice", misuse_of([&] { writer.declare("f", StoredType::kF32, {3}); }).c_str());
  STRCMP_CONTAINS("name of the metadata",
                  misuse_of([&] { writer.declare("__metadata__", StoredType::kF32, {3}); }).c_str());
  STRCMP_CONTAINS("too large", misuse_of([&] {
                                 writer.declare("x", StoredType::kF32, {1ULL << 62, 4});
                               }).c_str());
  STRCMP_CONTAINS("'g' was not declared", misuse_of([&] { writer.append("g", floats); }).c_str());
  STRCMP_CONTAINS("was declared as F32", misuse_of([&] { writer.append("f", doubles); }).c_str());
  STRCMP_CONTAINS("more values than its shape holds", misuse_of([&] { writer.append("f", floats); }).c_str());
  writer.append("f", std::span(floats).first(3));
  STRCMP_CONTAINS("declared after the first append",
                  misuse_of([&] { writer.declare("g", StoredType::kF32, {3}); }).c_str());
}

TEST(SafetensorsWriter, DiskTroubleIsAnErrorWithThePath) {
  SafetensorsWriter writer(folder / "none/w.safetensors");
  STRCMP_CONTAINS("the folder", error_of([&] { writer.commit(); }).c_str());
  SafetensorsWriter named(folder / "w.safetensors");
  named.set_metadata("text", "\xff");
  STRCMP_CONTAINS("is not UTF-8", error_of([&] { named.commit(); }).c_str());
  CHECK_EQUAL(0U, folder.entry_count());
}
