// The JSON header of a safetensors file, checked but not yet tied to bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/safetensors.hpp"

namespace thimble::detail {

/// The format's own limit on the header.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

/// Bytes of the length field before the header.
inline constexpr std::size_t kLengthBytes = 8;

/// One tensor as the header states it; `offsets` are relative to the end of the header.
struct HeaderEntry {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<std::uint64_t> shape;
  std::array<std::uint64_t, 2> offsets{};
};

struct Header {
  std::vector<HeaderEntry> entries;
  std::map<std::string, std::string> metadata;
};

/// Parses the header text. `Error` at `where` for anything that is not the format, including byte counts that
/// differ from shape times type. Needs memory in proportion to the text, whatever its nesting.
Header parse_header(std::string_view text, const std::string& where);

/// `Error` unless the tensors cover bytes 0 to `data_bytes` without gap or overlap.
void check_coverage(const Header& header, std::uint64_t data_bytes, const std::string& where);

}  // namespace thimble::detail
