#include "tools/files/npz_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "tools/files/error.hpp"
#include "tools/files/little_endian.hpp"
#include "tools/files/npy_header.hpp"
#include "tools/files/zip_format.hpp"

namespace thimble {
namespace {

using detail::put_little;

constexpr std::size_t kDataAlignment = 64;
constexpr std::size_t kExtraHeadBytes = 4;           // id and size of an extra field
constexpr std::uint16_t kAlignmentExtraId = 0xd935;  // "alignment and padding", known from Android's archives
constexpr std::uint16_t kFirstDate = (1 << 5) | 1;   // 1980-01-01, the earliest there is

[[noreturn]] void misuse(const std::string& name, const std::string& problem) {
  throw std::logic_error("npz writer: array " + in_quotes(name) + " " + problem);
}

void check(const std::string& name, StoredType type, std::span<const std::uint64_t> shape,
           std::size_t byte_count) {
  constexpr std::size_t kMaxName = 60000;  // with ".npy" and the directory's fields below 65536 bytes
  constexpr std::size_t kMaxDimensions = 32;
  if (name.empty() || name.size() > kMaxName) misuse(name, "has no name or too long a one");
  if (name.find('\0') != std::string::npos) misuse(name, "has a zero byte in its name");
  if (type != StoredType::kF32 && type != StoredType::kF64) misuse(name, "is neither F32 nor F64");
  if (shape.size() > kMaxDimensions) misuse(name, "has more than 32 dimensions");
  if (stored_bytes(shape, type) != byte_count) {
    misuse(name, "has the shape " + shape_text(shape) + ", but " + std::to_string(byte_count) + " bytes");
  }
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Version needed, flags, method, time, date, CRC: the fields that both headers of a member share.
void put_common(std::string& out, const std::string& name, std::uint32_t crc, bool wide) {
  put_little(out, wide ? detail::kZip64Version : detail::kZipVersion);
  put_little(out, is_ascii(name) ? std::uint16_t{0} : detail::kZipUtf8Flag);
  put_little(out, detail::kZipStored);
  put_little(out, std::uint16_t{0});
  put_little(out, kFirstDate);
  put_little(out, crc);
}

void put_zip64_extra(std::string& out, std::initializer_list<std::uint64_t> values) {
  put_little(out, detail::kZip64ExtraId);
  put_little(out, static_cast<std::uint16_t>(values.size() * sizeof(std::uint64_t)));
  for (const std::uint64_t value : values) put_little(out, value);
}

std::uint32_t low_or_mark(std::uint64_t value, bool wide) {
  return wide ? detail::kZipIn64 : static_cast<std::uint32_t>(value);
}

}  // namespace

NpzWriter::NpzWriter(const std::filesystem::path& path, Zip64 zip64) : file_(path), zip64_(zip64) {}

void NpzWriter::append(const std::string& name, StoredType type, std::span<const std::uint64_t> shape,
                       std::span<const std::byte> bytes) {
  check(name, type, shape, bytes.size());
  if (!names_.insert(name).second) misuse(name, "is appended twice");
  const std::string header = detail::npy_header_text(type, shape);
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
  if (!bytes.empty()) crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  const std::uint64_t byte_count = std::uint64_t{header.size()} + bytes.size();
  members_.push_back({name + ".npy", static_cast<std::uint32_t>(crc), byte_count, position_});
  const std::string headers = local_header(members_.back()) + header;
  write(std::as_bytes(std::span(headers)));
  write(bytes);
}

void NpzWriter::commit() {
  const std::uint64_t directory_offset = position_;
  std::string tail;
  for (const Member& member : members_) tail += central_header(member);
  tail += end_records(directory_offset, tail.size());
  write(std::as_bytes(std::span(tail)));
  file_.commit();
}

bool NpzWriter::in_64_bits(std::uint64_t value) const {
  return zip64_ == Zip64::kAlways || value >= detail::kZipIn64;
}

std::string NpzWriter::local_header(const Member& member) const {
  const bool wide = in_64_bits(member.byte_count);
  std::string extra;
  if (wide) put_zip64_extra(extra, {member.byte_count, member.byte_count});
  const std::size_t fields = detail::kZipLocalBytes + member.name.size() + extra.size();
  std::size_t padding = (kDataAlignment - (member.offset + fields) % kDataAlignment) % kDataAlignment;
  if (padding > 0) {
    constexpr std::size_t kLeast = kExtraHeadBytes + sizeof(std::uint16_t);
    if (padding < kLeast) padding += kDataAlignment;
    put_little(extra, kAlignmentExtraId);
    put_little(extra, static_cast<std::uint16_t>(padding - kExtraHeadBytes));
    put_little(extra, static_cast<std::uint16_t>(kDataAlignment));
    extra.append(padding - kLeast, '\0');
  }
  std::string out;
  put_little(out, detail::kZipLocalSignature);
  put_common(out, member.name, member.crc, wide);
  put_little(out, low_or_mark(member.byte_count, wide));
  put_little(out, low_or_mark(member.byte_count, wide));
  put_little(out, static_cast<std::uint16_t>(member.name.size()));
  put_little(out, static_cast<std::uint16_t>(extra.size()));
  return out + member.name + extra;
}

std::string NpzWriter::central_header(const Member& member) const {
  const bool wide_size = in_64_bits(member.byte_count);
  const bool wide_offset = in_64_bits(member.offset);
  std::string extra;
  if (wide_size && wide_offset) {
    put_zip64_extra(extra, {member.byte_count, member.byte_count, member.offset});
  } else if (wide_size) {
    put_zip64_extra(extra, {member.byte_count, member.byte_count});
  } else if (wide_offset) {
    put_zip64_extra(extra, {member.offset});
  }
  const bool wide = wide_size || wide_offset;
  std::string out;
  put_little(out, detail::kZipCentralSignature);
  put_little(out, wide ? detail::kZip64Version : detail::kZipVersion);
  put_common(out, member.name, member.crc, wide);
  put_little(out, low_or_mark(member.byte_count, wide_size));
  put_little(out, low_or_mark(member.byte_count, wide_size));
  put_little(out, static_cast<std::uint16_t>(member.name.size()));
  put_little(out, static_cast<std::uint16_t>(extra.size()));
  put_little(out, std::uint16_t{0});  // comment
  put_little(out, std::uint16_t{0});  // disk
  put_little(out, std::uint16_t{0});  // internal attributes
  put_little(out, std::uint32_t{0});  // external attributes
  put_little(out, low_or_mark(member.offset, wide_offset));
  return out + member.name + extra;
}

std::string NpzWriter::end_records(std::uint64_t directory_offset, std::uint64_t directory_bytes) const {
  const std::uint64_t count = members_.size();
  const bool wide_count = zip64_ == Zip64::kAlways || count >= detail::kZipCountIn64;
  const bool wide_offset = in_64_bits(directory_offset);
  const bool wide_bytes = in_64_bits(directory_bytes);
  std::string out;
  if (wide_count || wide_offset || wide_bytes) {
    put_little(out, detail::kZip64EndSignature);
    put_little(out, std::uint64_t{detail::kZip64EndBytes - 12});  // without signature and this field
    put_little(out, detail::kZip64Version);
    put_little(out, detail::kZip64Version);
    put_little(out, std::uint32_t{0});  // this disk
    put_little(out, std::uint32_t{0});  // the directory's disk
    put_little(out, count);
    put_little(out, count);
    put_little(out, directory_bytes);
    put_little(out, directory_offset);
    put_little(out, detail::kZip64LocatorSignature);
    put_little(out, std::uint32_t{0});
    put_little(out, directory_offset + directory_bytes);
    put_little(out, std::uint32_t{1});  // disks
  }
  const std::uint16_t low_count = wide_count ? detail::kZipCountIn64 : static_cast<std::uint16_t>(count);
  put_little(out, detail::kZipEndSignature);
  put_little(out, std::uint16_t{0});
  put_little(out, std::uint16_t{0});
  put_little(out, low_count);
  put_little(out, low_count);
  put_little(out, low_or_mark(directory_bytes, wide_bytes));
  put_little(out, low_or_mark(directory_offset, wide_offset));
  put_little(out, std::uint16_t{0});  // comment
  return out;
}

void NpzWriter::write(std::span<const std::byte> bytes) {
  file_.write_at(position_, bytes);
  position_ += bytes.size();
}

}  // namespace thimble
