#include "tools/files/npz.hpp"

#include <zlib.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/files/damage.hpp"
#include "tests/files/temporary_folder.hpp"
#include "tools/files/little_endian.hpp"
#include "tools/files/npz_writer.hpp"

#include "CppUTest/TestHarness.h"

using thimble::NpzFile;
using thimble::NpzWriter;
using thimble::StoredTensor;
using thimble::StoredType;
using thimble::Zip64;
using thimble::detail::put_little;
using thimble::test::error_of;
using thimble::test::refused;
using thimble::test::refused_changes;
using thimble::test::refused_truncations;
using thimble::test::TemporaryFolder;

namespace {

using Shape = std::vector<std::uint64_t>;

NpzFile open_bytes(std::span<const std::byte> bytes) {
  return NpzFile::from_bytes(bytes, "t.npz");
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string deflated(const std::string& plain) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

/// One member by hand, with every number of the directory open to lies.
struct Part {
  std::string name = "w.npy";
  std::string data;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint32_t byte_count = 0;
  std::uint16_t flags = 0;
  std::uint32_t offset = 0xffffffff;  // where it lies

  void put_fields(std::string& out) const {
    put_little(out, flags);
    put_little(out, method);
    put_little(out, std::uint32_t{0});
    put_little(out, crc);
    put_little(out, static_cast<std::uint32_t>(data.size()));
    put_little(out, byte_count);
    put_little(out, static_cast<std::uint16_t>(name.size()));
  }
};

std::string archive(std::vector<Part> parts, int count_error = 0) {
  std::string out, directory;
  for (Part& part : parts) {
    if (part.offset == 0xffffffff) part.offset = static_cast<std::uint32_t>(out.size());
    put_little(out, std::uint32_t{0x04034b50});
    put_little(out, std::uint16_t{20});
    part.put_fields(out);
    put_little(out, std::uint16_t{0});
    out += part.name + part.data;
    put_little(directory, std::uint32_t{0x02014b50});
    put_little(directory, std::uint32_t{20 + (20 << 16)});
    part.put_fields(directory);
    directory.append(12, '\0');
    put_little(directory, part.offset);
    directory += part.name;
  }
  const auto count = static_cast<std::uint16_t>(static_cast<int>(parts.size()) + count_error);
  const auto offset = static_cast<std::uint32_t>(out.size());
  out += directory;
  put_little(out, std::uint32_t{0x06054b50});
  put_little(out, std::uint32_t{0});
  put_little(out, count);
  put_little(out, count);
  put_little(out, static_cast<std::uint32_t>(directory.size()));
  put_little(out, offset);
  put_little(out, std::uint16_t{0});
  return out;
}

Part stored(const std::string& contents, const std::string& name = "w.npy") {
  Part part;
  part.name = name;
  part.data = contents;
  part.crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(contents.data()), contents.size()));
  part.byte_count = static_cast<std::uint32_t>(contents.size());
  return part;
}

Part packed(const std::string& contents, const std::string& name = "w.npy") {
  Part part = stored(contents, name);
  part.data = deflated(contents);
  part.method = 8;
  return part;
}

std::string npy(const std::string& dictionary, std::size_t data_bytes, char major = 1) {
  std::string out = "\x93NUMPY";
  out += {major, '\0'};
  const std::string text = dictionary + "\n";
  put_little(out, static_cast<std::uint16_t>(text.size()));
  if (major > 1) put_little(out, std::uint16_t{0});
  return out + text + std::string(data_bytes, 'x');
}

std::string message(const std::string& bytes) {
  return error_of([&] { open_bytes(std::as_bytes(std::span(bytes))); });
}

std::string header_message(const std::string& dictionary, std::size_t data_bytes = 8) {
  return message(archive({stored(npy(dictionary, data_bytes))}));
}

const std::string kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";

}  // namespace

TEST_GROUP(Npz) {
  TemporaryFolder folder;
  const std::array<float, 6> floats = {1, -2, 0x1p-149F, 0.1F, 3e38F, -0.0F};
  const std::array<double, 1> one = {0.1};

  std::string write(Zip64 zip64) const {
    NpzWriter writer(folder / "w.npz", zip64);
    writer.append("h.0.attn/weight", StoredType::kF32, Shape{2, 3}, std::as_bytes(std::span(floats)));
    writer.append("b", StoredType::kF64, {}, std::as_bytes(std::span(one)));
    writer.append("\xc3\xa9", StoredType::kF32, Shape{0, 5}, {});
    writer.append("row", StoredType::kF32, Shape{6}, std::as_bytes(std::span(floats)));
    writer.commit();
    return contents_of(folder / "w.npz");
  }

  void check_written(const std::string& bytes) const {
    const NpzFile file = open_bytes(std::as_bytes(std::span(bytes)));
    CHECK_EQUAL(4U, file.tensors().size());
    STRCMP_EQUAL("h.0.attn/weight", file.tensors()[0].name.c_str());
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    for (const StoredTensor& tensor : file.tensors()) CHECK_EQUAL(0, (tensor.bytes.data() - begin) % 64);
    const StoredTensor& weight = file.require("h.0.attn/weight", Shape{2, 3});
    MEMCMP_EQUAL(floats.data(), weight.bytes.data(), sizeof(floats));
    const StoredTensor& scalar = file.require("b", {});
    CHECK_TRUE(scalar.type == StoredType::kF64);
    MEMCMP_EQUAL(one.data(), scalar.bytes.data(), sizeof(one));
    CHECK_EQUAL(0U, file.require("\xc3\xa9", Shape{0, 5}).bytes.size());
    MEMCMP_EQUAL(floats.data(), file.require("row", Shape{6}).bytes.data(), sizeof(floats));
  }
};

TEST(Npz, RoundTripKeepsEveryBitAndAlignsData) {
  const std::string bytes = write(Zip64::kWhereNeeded);
  check_written(bytes);
  CHECK_TRUE(bytes == write(Zip64::kWhereNeeded));
  CHECK_EQUAL(4U, NpzFile(folder / "w.npz").tensors().size());
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST(Npz, RoundTripInZip64) {
  const std::string bytes = write(Zip64::kAlways);
  check_written(bytes);
  CHECK_TRUE(bytes.find("PK\6\6") != std::string::npos);
}

TEST(Npz, NoArraysIsValid) {
  NpzWriter(folder / "w.npz").commit();
  CHECK_TRUE(NpzFile(folder / "w.npz").tensors().empty());
}

TEST(Npz, NothingAppearsWithoutCommit) {
  {
    NpzWriter writer(folder / "w.npz");
    writer.append("b", StoredType::kF64, {}, std::as_bytes(std::span(one)));
  }
  CHECK_EQUAL(0U, folder.entry_count());
}

TEST(Npz, WriterMisuseIsNamed) {
  NpzWriter writer(folder / "w.npz");
  const auto bytes = std::as_bytes(std::span(one));
  writer.append("b", StoredType::kF64, {}, bytes);
  CHECK_THROWS(std::logic_error, writer.append("b", StoredType::kF64, {}, bytes));
  CHECK_THROWS(std::logic_error, writer.append("", StoredType::kF64, {}, bytes));
  CHECK_THROWS(std::logic_error, writer.append("h", StoredType::kF16, Shape{4}, bytes));
  CHECK_THROWS(std::logic_error, writer.append("s", StoredType::kF64, Shape{2}, bytes));
}

TEST(Npz, ReadsDeflatedMembersAndEveryHeaderVersion) {
  std::vector<Part> parts;
  for (const char major : {1, 2, 3}) {
    parts.push_back(packed(npy(kGood, 8, major), std::string("p") + char('0' + major) + ".npy"));
    parts.push_back(stored(npy(kGood, 8, major), std::string("s") + char('0' + major) + ".npy"));
  }
  const std::string bytes = archive(parts);
  NpzFile file = open_bytes(std::as_bytes(std::span(bytes)));
  const NpzFile moved = std::move(file);  // inflated tensors move with their file
  CHECK_EQUAL(6U, moved.tensors().size());
  for (const StoredTensor& tensor : moved.tensors()) {
    CHECK_EQUAL(8U, tensor.bytes.size());
    MEMCMP_EQUAL("xxxxxxxx", tensor.bytes.data(), 8);
  }
}

TEST(Npz, AcceptsOtherSpellingsOfTheHeader) {
  STRCMP_EQUAL("no error", header_message(R"({"shape":(2,),"descr":"<f4","fortran_order":False})").c_str());
  STRCMP_EQUAL("no error",
               header_message("{'descr': '<f2', 'fortran_order': False, 'shape': (2,2)}  ").c_str());
}

TEST(Npz, RefusesBadHeadersWithTheirReason) {
  const auto contains = [](const char* part, const std::string& text) {
    STRCMP_CONTAINS(part, text.c_str());
    STRCMP_CONTAINS("t.npz, member 'w.npy': ", text.c_str());
  };
  const auto typed = [](const std::string& type) {
    return header_message("{'descr': " + type + ", 'fortran_order': False, 'shape': (2,), }");
  };
  const auto shaped = [](const std::string& shape) {
    return header_message("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }");
  };
  contains("has the type '>f4'", typed("'>f4'"));
  contains("has the type '<i8'", typed("'<i8'"));
  contains("no ''' at", typed("[('a', '<f4')]"));
  contains("is stored in Fortran order",
           header_message("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }"));
  contains("neither True nor False", header_message("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }"));
  contains("takes 12 bytes ([3] of F32), but holds 8", shaped("(3,)"));
  contains("takes 4 bytes ([] of F32), but holds 8", shaped("()"));
  contains("the shape is a number, not a tuple", shaped("(2)"));
  contains("no size at", shaped("(-2,)"));
  contains("no size at", shaped("(,)"));
  contains("no ',' between", shaped("(1 2)"));
  contains("does not fit 63 bits", shaped("(9223372036854775808,)"));
  contains("more bytes than 64 bits can count", shaped("(9223372036854775807, 2)"));
  contains("more bytes than 64 bits can count", shaped("(4294967296, 4294967296)"));
  contains("'descr' stands twice", header_message("{'descr': '<f4', 'descr': '<f4'}"));
  contains("the unknown key 'x'", header_message("{'x': 1}"));
  contains("is missing", header_message("{'descr': '<f4', 'shape': (2,)}"));
  contains("not followed by spaces and one line end", header_message(kGood + "#"));
  contains("without its closing quote", header_message("{'descr"));
  contains("this is not an .npy array", message(archive({stored("no array at all")})));
  contains("is .npy version 4.0", message(archive({stored(npy(kGood, 8, 4))})));
}

TEST(Npz, RefusesBadArchivesWithTheirReason) {
  const Part good = stored(npy(kGood, 8));
  const auto with = [&](auto change) {
    Part part = good;
    change(part);
    return message(archive({part}));
  };
  STRCMP_EQUAL("no error", message(archive({good})).c_str());
  STRCMP_CONTAINS("has no end record", message("PK").c_str());
  STRCMP_CONTAINS("is not named NAME.npy", message(archive({stored(npy(kGood, 8), "w")})).c_str());
  STRCMP_CONTAINS("is not named NAME.npy", message(archive({stored(npy(kGood, 8), ".npy")})).c_str());
  STRCMP_CONTAINS("has the member 'w.npy' twice", message(archive({good, good})).c_str());
  STRCMP_CONTAINS("its CRC-32 does not match", with([](Part& p) { p.crc ^= 1; }).c_str());
  STRCMP_CONTAINS("is encrypted", with([](Part& p) { p.flags = 1; }).c_str());
  STRCMP_CONTAINS("flags that are not known", with([](Part& p) { p.flags = 1 << 5; }).c_str());
  STRCMP_CONTAINS("compression method 12", with([](Part& p) { p.method = 12; }).c_str());
  STRCMP_CONTAINS("is stored, yet has two sizes", with([](Part& p) { p.byte_count += 1; }).c_str());
  STRCMP_CONTAINS("another local header", with([](Part& p) { p.offset = 1; }).c_str());
  STRCMP_CONTAINS("behind the data", with([](Part& p) { p.offset = 1 << 30; }).c_str());
  STRCMP_CONTAINS("states 2 members, but its directory lists 1", message(archive({good}, 1)).c_str());
  Part second = stored(npy(kGood, 8), "w.npy");
  second.offset = 0;
  STRCMP_CONTAINS("overlaps the one before it", message(archive({good, second})).c_str());
}

TEST(Npz, InflatesNoMoreThanDeclaredAndNoMoreThanPossible) {
  const Part good = packed(npy(kGood, 8));
  const auto with_size = [&](std::uint32_t size) {
    Part part = good;
    part.byte_count = size;
    return message(archive({part}));
  };
  STRCMP_EQUAL("no error", with_size(good.byte_count).c_str());
  STRCMP_CONTAINS("bytes deflated", with_size(good.byte_count - 1).c_str());
  STRCMP_CONTAINS("bytes deflated", with_size(good.byte_count + 1).c_str());
  STRCMP_CONTAINS("states 4294967294 bytes, more than", with_size(0xfffffffe).c_str());
}

TEST(Npz, DamageIsRefusedOrHarmless) {
  for (const Zip64 zip64 : {Zip64::kWhereNeeded, Zip64::kAlways}) {
    const std::string good = write(zip64);
    CHECK_FALSE(refused(good, open_bytes));
    CHECK_EQUAL(good.size(), refused_truncations(good, open_bytes));
    CHECK_TRUE(refused_changes(good, open_bytes) > good.size());
  }
  const std::string good = archive({packed(npy(kGood, 8), "a.npy"), packed(npy(kGood, 8), "b.npy")});
  CHECK_EQUAL(good.size(), refused_truncations(good, open_bytes));
  CHECK_TRUE(refused_changes(good, open_bytes) > good.size());
}
