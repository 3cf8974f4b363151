// Reading zip archives from memory, as hostile input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace thimble::detail {

/// One file of an archive.
struct ZipMember {
  std::string name;
  std::uint16_t method = 0;  // kZipStored or kZipDeflated
  std::uint32_t crc = 0;
  std::uint64_t byte_count = 0;       // of the contents
  std::span<const std::byte> stored;  // as they lie in the archive
};

/// The archive's members in the order of its directory. `Error` at `where` unless the directory fills its
/// place exactly, every local header agrees with it, no two members overlap, and every member is stored or
/// deflated without encryption. Zip64 is read.
std::vector<ZipMember> read_zip_directory(std::span<const std::byte> bytes, const std::string& where);

/// The contents of a member, with its CRC-32 checked: in place when it is stored, otherwise inflated into
/// `owned`. The memory taken is bounded by the deflated size times deflate's best ratio, 1032.
std::span<const std::byte> zip_contents(const ZipMember& member, std::vector<std::byte>& owned,
                                        const std::string& where);

}  // namespace thimble::detail
