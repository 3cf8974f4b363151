#include "tools/files/safetensors.hpp"

#include <cstring>

#include "tools/files/error.hpp"
#include "tools/files/safetensors_header.hpp"

namespace thimble {
namespace {

detail::Header read_header(std::span<const std::byte> bytes, const std::string& where,
                           std::size_t& data_begin) {
  if (bytes.size() < detail::kLengthBytes) {
    throw Error(where,
                "has only " + std::to_string(bytes.size()) + " bytes; safetensors begin with 8 for a length");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  const std::uint64_t left = bytes.size() - detail::kLengthBytes;
  if (length > detail::kMaxHeaderBytes) {
    throw Error(where, "states a header of " + std::to_string(length) + " bytes; the format allows 100000000",
                "is this a safetensors file?");
  }
  if (length > left) {
    throw Error(where, "states a header of " + std::to_string(length) + " bytes, but only " +
                           std::to_string(left) + " follow; the file is truncated or not safetensors");
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + detail::kLengthBytes;
  data_begin = detail::kLengthBytes + static_cast<std::size_t>(length);
  detail::Header header = detail::parse_header({text, static_cast<std::size_t>(length)}, where);
  detail::check_coverage(header, bytes.size() - data_begin, where);
  return header;
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes, const std::filesystem::path& where)
    : TensorFile(where, "safetensors") {
  std::size_t data_begin = 0;
  detail::Header header = read_header(bytes, where.string(), data_begin);
  set_metadata(std::move(header.metadata));
  for (detail::HeaderEntry& entry : header.entries) {
    const std::size_t begin = data_begin + static_cast<std::size_t>(entry.offsets[0]);
    const std::size_t size = static_cast<std::size_t>(entry.offsets[1] - entry.offsets[0]);
    add({std::move(entry.name), entry.type, std::move(entry.shape), bytes.subspan(begin, size)});
  }
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : TensorFile(path, "safetensors") {
  MappedFile file(path);
  *this = from_bytes(file.bytes(), path);
  keep(std::move(file));
}

SafetensorsFile SafetensorsFile::from_bytes(std::span<const std::byte> bytes,
                                            const std::filesystem::path& where) {
  return SafetensorsFile(bytes, where);
}

}  // namespace thimble
