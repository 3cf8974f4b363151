#pragma once
/// Writes a checkpoint's records to a sink, in order: header, metadata, tensors, commit. Holds 512 bytes.

#include <string_view>

#include "core/base/digest.hpp"
#include "core/checkpoint/bytes.hpp"
#include "core/checkpoint/crc32c.hpp"
#include "core/checkpoint/entry.hpp"
#include "core/checkpoint/fault.hpp"

namespace thimble {

/// Bytes that the writer and the reader hold of a checkpoint at a time.
inline constexpr std::size_t kCheckpointBuffer = 512;

class CheckpointWriter {
 public:
  explicit CheckpointWriter(const ByteSink& sink) : sink_(sink) {}

  /// format_version and tensor order are the writer's and the caller's affair; all else is written as it stands.
  Fault header(const CheckpointHeader& header);
  /// key: at most 31 bytes.
  Fault metadata(std::string_view key, std::string_view value);
  /// data: entry.bytes() bytes of `real` numbers in memory order.
  Fault tensor(const TensorEntry& entry, const std::byte* data);
  /// Ends the checkpoint.
  Fault commit();

  std::uint64_t byte_count() const { return offset_; }

 private:
  bool put(std::span<const std::byte> bytes);
  bool begin_record(std::uint64_t content_bytes);
  Fault end_record();
  Fault message_record(RecordKind kind, const pb_msgdesc_t* fields, const void* message);
  bool put_numbers(const TensorEntry& entry, const std::byte* data, Digest& digest);
  Fault failed(const char* field) const;

  ByteSink sink_;
  std::uint64_t offset_ = 0;
  std::uint32_t records_ = 0;
  Crc32c record_crc_;
  Crc32c chain_;
  Digest weights_;
};

}  // namespace thimble
