// Numbers of the zip format. Source: PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thimble::detail {

inline constexpr std::uint32_t kZipLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kZipCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kZipEndSignature = 0x06054b50;
inline constexpr std::uint32_t kZip64EndSignature = 0x06064b50;
inline constexpr std::uint32_t kZip64LocatorSignature = 0x07064b50;

inline constexpr std::size_t kZipLocalBytes = 30;
inline constexpr std::size_t kZipCentralBytes = 46;
inline constexpr std::size_t kZipEndBytes = 22;
inline constexpr std::size_t kZip64EndBytes = 56;
inline constexpr std::size_t kZip64LocatorBytes = 20;

inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflated = 8;

/// A field with all bits set says that the value stands in the Zip64 extra field.
inline constexpr std::uint32_t kZipIn64 = 0xffffffff;
inline constexpr std::uint16_t kZipCountIn64 = 0xffff;
inline constexpr std::uint16_t kZip64ExtraId = 1;

inline constexpr std::uint16_t kZipVersion = 20;    // 2.0: deflate
inline constexpr std::uint16_t kZip64Version = 45;  // 4.5: Zip64
inline constexpr std::uint16_t kZipUtf8Flag = 1 << 11;

}  // namespace thimble::detail
