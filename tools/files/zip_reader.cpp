#include "tools/files/zip_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "tools/files/error.hpp"
#include "tools/files/little_endian.hpp"
#include "tools/files/zip_format.hpp"

namespace thimble::detail {
namespace {

constexpr std::uint64_t kMaxRatio = 1032;         // of deflate: 258 bytes from two bits
constexpr std::uint16_t kReadableFlags = 0x080e;  // level of compression, sizes after the data, UTF-8

struct Directory {
  std::uint64_t count = 0;
  std::uint64_t byte_count = 0;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  // where the directory must end: the first end record
};

struct Entry {
  ZipMember member;
  std::uint16_t flags = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t offset = 0;  // of the local header
  std::uint64_t end = 0;     // of the data
};

/// Position of the end record: the last one whose comment reaches exactly to the end of the file.
std::size_t find_end(std::span<const std::byte> bytes, const std::string& where) {
  constexpr std::size_t kMaxComment = 0xffff;
  for (std::size_t comment = 0; comment <= kMaxComment && comment + kZipEndBytes <= bytes.size(); ++comment) {
    const std::size_t position = bytes.size() - kZipEndBytes - comment;
    ByteReader reader(bytes.subspan(position), where);
    if (reader.take<std::uint32_t>("the end record") != kZipEndSignature) continue;
    reader.take_bytes(kZipEndBytes - 6, "the end record");
    if (reader.take<std::uint16_t>("the end record") == comment) return position;
  }
  throw Error(where, "has no end record of a zip archive; the file is truncated or not an .npz");
}

/// Replaces the directory's place by that of the Zip64 end record, if there is one before `end`.
void read_zip64_end(std::span<const std::byte> bytes, std::size_t end, Directory& directory,
                    const std::string& where) {
  if (end < kZip64LocatorBytes) return;
  ByteReader locator(bytes.subspan(end - kZip64LocatorBytes), where);
  if (locator.take<std::uint32_t>("the Zip64 locator") != kZip64LocatorSignature) return;
  const auto disk = locator.take<std::uint32_t>("the Zip64 locator");
  const auto offset = locator.take<std::uint64_t>("the Zip64 locator");
  const auto disks = locator.take<std::uint32_t>("the Zip64 locator");
  const std::size_t locator_begin = end - kZip64LocatorBytes;
  if (disk != 0 || disks > 1) throw Error(where, "is one part of an archive in several files");
  if (locator_begin < kZip64EndBytes || offset > locator_begin - kZip64EndBytes) {
    throw Error(where, "has its Zip64 end record at byte " + std::to_string(offset) + ", outside its place");
  }
  ByteReader record(bytes.subspan(static_cast<std::size_t>(offset)), where);
  const auto signature = record.take<std::uint32_t>("the Zip64 end record");
  const auto size = record.take<std::uint64_t>("the Zip64 end record");
  if (signature != kZip64EndSignature || size != locator_begin - offset - 12) {
    throw Error(where, "has no Zip64 end record where its locator points");
  }
  record.take_bytes(12, "the Zip64 end record");  // versions and disks
  const auto count_here = record.take<std::uint64_t>("the Zip64 end record");
  directory.count = record.take<std::uint64_t>("the Zip64 end record");
  directory.byte_count = record.take<std::uint64_t>("the Zip64 end record");
  directory.offset = record.take<std::uint64_t>("the Zip64 end record");
  directory.end = offset;
  if (count_here != directory.count) throw Error(where, "is one part of an archive in several files");
}

Directory read_end(std::span<const std::byte> bytes, const std::string& where) {
  const std::size_t end = find_end(bytes, where);
  ByteReader reader(bytes.subspan(end + 4), where);
  const auto disk = reader.take<std::uint16_t>("the end record");
  const auto directory_disk = reader.take<std::uint16_t>("the end record");
  const auto count_here = reader.take<std::uint16_t>("the end record");
  Directory directory;
  directory.count = reader.take<std::uint16_t>("the end record");
  directory.byte_count = reader.take<std::uint32_t>("the end record");
  directory.offset = reader.take<std::uint32_t>("the end record");
  directory.end = end;
  if (disk != directory_disk || count_here != directory.count) {
    throw Error(where, "is one part of an archive in several files");
  }
  read_zip64_end(bytes, end, directory, where);
  if (directory.offset > directory.end || directory.byte_count != directory.end - directory.offset) {
    throw Error(where, "states a directory of " + std::to_string(directory.byte_count) + " bytes at byte " +
                           std::to_string(directory.offset) + ", but it must end at byte " +
                           std::to_string(directory.end));
  }
  return directory;
}

/// Takes the values that the 32-bit fields leave to the Zip64 extra field, in the format's order.
void read_zip64_extra(std::span<const std::byte> extra, Entry& entry, const std::string& where) {
  ByteReader fields(extra, where);
  std::span<const std::byte> wide;
  while (fields.left() >= 4) {
    const auto id = fields.take<std::uint16_t>("an extra field");
    const auto size = fields.take<std::uint16_t>("an extra field");
    const auto value = fields.take_bytes(size, "an extra field of member " + in_quotes(entry.member.name));
    if (id == kZip64ExtraId) wide = value;
  }
  ByteReader values(wide, where);
  for (std::uint64_t* field : {&entry.member.byte_count, &entry.stored_bytes, &entry.offset}) {
    if (*field == kZipIn64) *field = values.take<std::uint64_t>("the Zip64 field");
  }
}

Entry read_entry(ByteReader& reader) {
  constexpr std::string_view kPart = "the directory";
  const std::string& where = reader.where();
  if (reader.take<std::uint32_t>(kPart) != kZipCentralSignature) {
    throw Error(where, "has no entry of a directory where one should stand");
  }
  Entry entry;
  reader.take_bytes(4, kPart);  // versions
  entry.flags = reader.take<std::uint16_t>(kPart);
  entry.member.method = reader.take<std::uint16_t>(kPart);
  reader.take_bytes(4, kPart);  // time and date
  entry.member.crc = reader.take<std::uint32_t>(kPart);
  entry.stored_bytes = reader.take<std::uint32_t>(kPart);
  entry.member.byte_count = reader.take<std::uint32_t>(kPart);
  const auto name_bytes = reader.take<std::uint16_t>(kPart);
  const auto extra_bytes = reader.take<std::uint16_t>(kPart);
  const auto comment_bytes = reader.take<std::uint16_t>(kPart);
  reader.take_bytes(8, kPart);  // disk and attributes
  entry.offset = reader.take<std::uint32_t>(kPart);
  entry.member.name = reader.take_text(name_bytes, kPart);
  read_zip64_extra(reader.take_bytes(extra_bytes, kPart), entry, where);
  reader.take_bytes(comment_bytes, kPart);
  const std::string named = "member " + in_quotes(entry.member.name);
  if ((entry.flags & 1) != 0) throw Error(where, named + " is encrypted");
  if ((entry.flags & ~kReadableFlags) != 0) throw Error(where, named + " has flags that are not known");
  if (entry.member.method != kZipStored && entry.member.method != kZipDeflated) {
    throw Error(where, named + " has the compression method " + std::to_string(entry.member.method) +
                           "; stored and deflated are read");
  }
  if (entry.member.method == kZipStored && entry.stored_bytes != entry.member.byte_count) {
    throw Error(where, named + " is stored, yet has two sizes");
  }
  return entry;
}

/// Finds the member's bytes behind its local header.
void locate(std::span<const std::byte> data, Entry& entry, const std::string& where) {
  const std::string named = "member " + in_quotes(entry.member.name);
  const std::string part = "the local header of " + named;
  if (entry.offset > data.size()) {
    throw Error(where, named + " begins at byte " + std::to_string(entry.offset) + ", behind the data");
  }
  ByteReader reader(data.subspan(static_cast<std::size_t>(entry.offset)), where);
  const auto signature = reader.take<std::uint32_t>(part);
  reader.take_bytes(2, part);  // version
  const auto flags = reader.take<std::uint16_t>(part);
  const auto method = reader.take<std::uint16_t>(part);
  reader.take_bytes(16, part);  // time, date, CRC, sizes: the directory's count
  const auto name_bytes = reader.take<std::uint16_t>(part);
  const auto extra_bytes = reader.take<std::uint16_t>(part);
  const std::string_view name = reader.take_text(name_bytes, part);
  if (signature != kZipLocalSignature || flags != entry.flags || method != entry.member.method ||
      name != entry.member.name) {
    throw Error(where, named + " has another local header than the directory says");
  }
  reader.take_bytes(extra_bytes, part);
  entry.member.stored = reader.take_bytes(entry.stored_bytes, named);
  entry.end = entry.offset + reader.position();
}

/// Overlapping members could make a small file large many times over.
void check_overlap(const std::vector<Entry>& entries, const std::string& where) {
  std::vector<const Entry*> order;
  for (const Entry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->offset < b->offset; });
  std::uint64_t end = 0;
  for (const Entry* entry : order) {
    if (entry->offset < end) {
      throw Error(where, "member " + in_quotes(entry->member.name) + " overlaps the one before it");
    }
    end = entry->end;
  }
}

void inflate_all(const ZipMember& member, std::span<std::byte> out, const std::string& where) {
  const std::string named = "member " + in_quotes(member.name);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error(where, "no memory to inflate " + named);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(member.stored.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  constexpr std::size_t kMaxCall = std::numeric_limits<uInt>::max();
  std::size_t in_left = member.stored.size();
  std::size_t out_left = out.size();
  int result = Z_OK;
  while (result == Z_OK) {
    stream.avail_in = static_cast<uInt>(std::min(in_left, kMaxCall));
    stream.avail_out = static_cast<uInt>(std::min(out_left, kMaxCall));
    const uInt in_given = stream.avail_in;
    const uInt out_given = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    in_left -= in_given - stream.avail_in;
    out_left -= out_given - stream.avail_out;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || in_left != 0 || out_left != 0) {
    throw Error(where, named + " is not " + std::to_string(out.size()) + " bytes deflated");
  }
}

}  // namespace

std::vector<ZipMember> read_zip_directory(std::span<const std::byte> bytes, const std::string& where) {
  const Directory directory = read_end(bytes, where);
  const auto data = bytes.first(static_cast<std::size_t>(directory.offset));
  ByteReader reader(bytes.subspan(data.size(), static_cast<std::size_t>(directory.byte_count)), where);
  std::vector<Entry> entries;
  while (reader.left() > 0) {
    entries.push_back(read_entry(reader));
    locate(data, entries.back(), where);
  }
  if (entries.size() != directory.count) {
    throw Error(where, "states " + std::to_string(directory.count) + " members, but its directory lists " +
                           std::to_string(entries.size()));
  }
  check_overlap(entries, where);
  std::vector<ZipMember> members;
  for (Entry& entry : entries) members.push_back(std::move(entry.member));
  return members;
}

std::span<const std::byte> zip_contents(const ZipMember& member, std::vector<std::byte>& owned,
                                        const std::string& where) {
  const std::string named = "member " + in_quotes(member.name);
  std::span<const std::byte> contents = member.stored;
  if (member.method == kZipDeflated) {
    if (member.byte_count / kMaxRatio > member.stored.size()) {
      throw Error(where, named + " states " + std::to_string(member.byte_count) + " bytes, more than " +
                             std::to_string(member.stored.size()) + " deflated bytes can hold");
    }
    owned.resize(static_cast<std::size_t>(member.byte_count));
    inflate_all(member, owned, where);
    contents = owned;
  }
  uLong crc = 0;
  if (!contents.empty()) {
    crc = crc32_z(0, reinterpret_cast<const Bytef*>(contents.data()), contents.size());
  }
  if (crc != member.crc) throw Error(where, named + " is damaged: its CRC-32 does not match");
  return contents;
}

}  // namespace thimble::detail
