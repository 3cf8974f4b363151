// Whole text files: read, and replaced in one piece.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace thimble {

/// Whether an empty file is an error.
enum class EmptyFile { kRefused, kAllowed };

/// Files above this are refused by default: token ids take four bytes for each byte of text.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

/// All bytes of a file, a pipe or a terminal. Throws `Error` for a missing or unreadable one, a folder, more
/// than `max_bytes`, and an empty file unless allowed.
std::string read_file(const std::filesystem::path& path, EmptyFile empty = EmptyFile::kRefused,
                      std::size_t max_bytes = kMaxTextBytes);

/// Replaces the file by `text` in one piece (see `AtomicFile`).
void write_file(const std::filesystem::path& path, std::string_view text);

/// `text` without a UTF-8 byte order mark at its start.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace thimble
