#include "core/checkpoint/writer.hpp"

#include <pb_encode.h>

#include "core/checkpoint/numbers.hpp"
#include "core/checkpoint/wire.hpp"

namespace thimble {

namespace {

/// A small piece of a record, encoded by nanopb.
struct Piece {
  pb_byte_t bytes[kCheckpointBuffer];
  pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof bytes);

  void tag(pb_wire_type_t type, std::uint32_t field) { ok = ok && pb_encode_tag(&stream, type, field); }
  void varint(std::uint64_t x) { ok = ok && pb_encode_varint(&stream, x); }
  std::span<const std::byte> view() const { return std::as_bytes(std::span(bytes, stream.bytes_written)); }

  bool ok = true;
};

void copy_text(char* to, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) to[i] = text[i];
}

}  // namespace

bool CheckpointWriter::put(std::span<const std::byte> bytes) {
  record_crc_.add(bytes);
  offset_ += bytes.size();
  return sink_.write(sink_.state, bytes);
}

Fault CheckpointWriter::failed(const char* field) const {
  return {FaultKind::write_failed, field, records_, offset_, 0, 0};
}

bool CheckpointWriter::begin_record(std::uint64_t content_bytes) {
  Piece prefix;
  prefix.varint(content_bytes + kCrcFieldBytes);
  record_crc_ = {};
  return put(prefix.view());
}

Fault CheckpointWriter::end_record() {
  const std::uint32_t crc = record_crc_.value();
  Piece end;
  end.ok = pb_encode_fixed32(&end.stream, &crc);
  chain_.add(end.view());
  Piece field;
  field.tag(PB_WT_32BIT, kCrcFieldNumber);
  if (!put(field.view()) || !put(end.view())) return failed("crc32c");
  ++records_;
  return {};
}

Fault CheckpointWriter::message_record(RecordKind kind, const pb_msgdesc_t* fields, const void* message) {
  Piece p;
  p.tag(PB_WT_STRING, std::uint32_t(kind));
  p.ok = p.ok && pb_encode_submessage(&p.stream, fields, message);
  if (!p.ok || !begin_record(p.view().size()) || !put(p.view())) return failed("record");
  return end_record();
}

Fault CheckpointWriter::header(const CheckpointHeader& header) {
  return message_record(RecordKind::header, thimble_checkpoint_Header_fields, &header);
}

Fault CheckpointWriter::metadata(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > Name::kCapacity) {
    return {FaultKind::bad_value, "metadata.key", records_, offset_, Name::kCapacity, key.size()};
  }
  const std::uint64_t inner = field_bytes(key.size()) + field_bytes(value.size());
  Piece head;
  head.tag(PB_WT_STRING, std::uint32_t(RecordKind::metadata));
  head.varint(inner);
  head.tag(PB_WT_STRING, thimble_checkpoint_Metadata_key_tag);
  head.ok = head.ok &&
            pb_encode_string(&head.stream, reinterpret_cast<const pb_byte_t*>(key.data()), key.size());
  head.tag(PB_WT_STRING, thimble_checkpoint_Metadata_value_tag);
  head.varint(value.size());
  const bool written = head.ok && begin_record(field_bytes(inner)) && put(head.view()) &&
                       put(std::as_bytes(std::span(value.data(), value.size())));
  return written ? end_record() : failed("metadata.value");
}

bool CheckpointWriter::put_numbers(const TensorEntry& entry, const std::byte* data, Digest& digest) {
  const std::uint64_t total = entry.bytes();
  const bool is_weight = entry.role == thimble_checkpoint_Role_ROLE_WEIGHT;
  std::byte swapped[std::endian::native == std::endian::little ? 1 : kCheckpointBuffer];
  for (std::uint64_t at = 0; at < total;) {
    const std::size_t n = std::size_t(total - at < 32 * kCheckpointBuffer ? total - at : 32 * kCheckpointBuffer);
    std::span<const std::byte> piece(data + at, n);
    if constexpr (std::endian::native != std::endian::little) {
      piece = piece.first(n < kCheckpointBuffer ? n : kCheckpointBuffer);
      for (std::size_t i = 0; i < piece.size(); ++i) swapped[i] = piece[i];
      detail::swap_numbers({swapped, piece.size()}, std::size_t(total / entry.count()));
      piece = {swapped, piece.size()};
    }
    detail::add_words(digest, piece);
    if (is_weight) detail::add_words(weights_, piece);
    if (!put(piece)) return false;
    at += piece.size();
  }
  return true;
}

Fault CheckpointWriter::tensor(const TensorEntry& entry, const std::byte* data) {
  thimble_checkpoint_Tensor t = thimble_checkpoint_Tensor_init_zero;
  if (entry.name.empty() || entry.name.size() > Name::kCapacity || entry.rank > 2) {
    return {FaultKind::bad_value, "tensor.name", records_, offset_, Name::kCapacity, entry.name.size()};
  }
  copy_text(t.name, entry.name);
  t.role = entry.role;
  t.number_type = entry.type;
  t.shape_count = entry.rank;
  for (int k = 0; k < entry.rank; ++k) t.shape[k] = entry.sizes[k];

  Piece head;
  head.tag(PB_WT_STRING, std::uint32_t(RecordKind::tensor));
  head.varint(tensor_message_bytes(entry));
  head.ok = head.ok && pb_encode(&head.stream, thimble_checkpoint_Tensor_fields, &t);
  head.tag(PB_WT_STRING, thimble_checkpoint_Tensor_data_tag);
  head.varint(entry.bytes());
  if (!head.ok || !begin_record(field_bytes(tensor_message_bytes(entry))) || !put(head.view())) {
    return failed("tensor");
  }
  Digest digest;
  if (!put_numbers(entry, data, digest)) return failed("tensor.data");
  const std::uint64_t value = digest.value();
  Piece end;
  end.tag(PB_WT_64BIT, thimble_checkpoint_Tensor_digest_tag);
  end.ok = end.ok && pb_encode_fixed64(&end.stream, &value);
  return put(end.view()) ? end_record() : failed("tensor.digest");
}

Fault CheckpointWriter::commit() {
  const CheckpointCommit c = {records_ + 1, offset_, chain_.value(), weights_.value()};
  return message_record(RecordKind::commit, thimble_checkpoint_Commit_fields, &c);
}

}  // namespace thimble
