#pragma once
/// How many bytes the schema's messages take on the wire.

#include "core/checkpoint/entry.hpp"

namespace thimble {

/// Bytes of a varint.
constexpr std::uint64_t varint_bytes(std::uint64_t x) {
  std::uint64_t n = 1;
  for (; x >= 0x80; x >>= 7) ++n;
  return n;
}

/// Bytes of a field with a one-byte tag, a length and as many bytes.
constexpr std::uint64_t field_bytes(std::uint64_t length) { return 1 + varint_bytes(length) + length; }

/// Bytes of the field Record.crc32c.
inline constexpr std::uint64_t kCrcFieldBytes = 5;

/// Bytes of a record with its length prefix, whose content is a message of `message_bytes`.
constexpr std::uint64_t record_bytes(std::uint64_t message_bytes) {
  const std::uint64_t length = field_bytes(message_bytes) + kCrcFieldBytes;
  return varint_bytes(length) + length;
}

/// Most bytes of a header record and of a commit record.
inline constexpr std::uint64_t kHeaderRecordBytes = record_bytes(thimble_checkpoint_Header_size);
inline constexpr std::uint64_t kCommitRecordBytes = record_bytes(thimble_checkpoint_Commit_size);

constexpr std::uint64_t metadata_record_bytes(std::string_view key, std::uint64_t value_bytes) {
  return record_bytes(field_bytes(key.size()) + field_bytes(value_bytes));
}

/// Bytes of the fields of a tensor message before its data.
constexpr std::uint64_t tensor_head_bytes(const TensorEntry& e) {
  std::uint64_t shape = 0;
  for (int k = 0; k < e.rank; ++k) shape += varint_bytes(e.sizes[k]);
  return field_bytes(e.name.size()) + 2 + 2 + (e.rank > 0 ? field_bytes(shape) : 0);
}

constexpr std::uint64_t tensor_message_bytes(const TensorEntry& e) {
  return tensor_head_bytes(e) + field_bytes(e.bytes()) + 9;
}

constexpr std::uint64_t tensor_record_bytes(const TensorEntry& e) { return record_bytes(tensor_message_bytes(e)); }

}  // namespace thimble
