#include "core/checkpoint/reader.hpp"

#include <pb_decode.h>

#include <cstring>

#include "core/checkpoint/crc32c.hpp"
#include "core/checkpoint/numbers.hpp"
#include "core/checkpoint/writer.hpp"

namespace thimble {

namespace {

/// A number that is no value of its enumeration becomes "unspecified", before anything reads it as one.
template <class Enum>
void keep_known(Enum& value, Enum last) {
  static_assert(sizeof(Enum) <= sizeof(unsigned));
  unsigned number = 0;
  std::memcpy(&number, &value, sizeof value);
  if (number > unsigned(last)) value = Enum(0);
}

void keep_known(CheckpointHeader& h) {
  keep_known(h.profile, _thimble_checkpoint_Profile_MAX);
  keep_known(h.number_type, _thimble_checkpoint_NumberType_MAX);
  keep_known(h.gpt.norm, _thimble_checkpoint_Norm_MAX);
  keep_known(h.gpt.activation, _thimble_checkpoint_Activation_MAX);
  keep_known(h.optimizer.kind, _thimble_checkpoint_OptimizerKind_MAX);
  keep_known(h.schedule.kind, _thimble_checkpoint_ScheduleKind_MAX);
}

class Reader {
 public:
  Reader(const ByteSource& source, CheckpointHandler& handler) : source_(source), handler_(handler) {}

  Fault run(AfterCommit after) {
    while (!committed_) {
      if (!read_record()) return fault_;
      ++record_;
    }
    if (after == AfterCommit::end && offset_ != source_.size) {
      fail(FaultKind::trailing_bytes, "commit", offset_, source_.size);
    }
    if (!fault_) handler_.whole(offset_);
    return fault_;
  }

 private:
  // Every function that returns bool returns false after `fail`.
  bool fail(FaultKind kind, const char* field, std::uint64_t expected = 0, std::uint64_t found = 0) {
    if (!fault_) fault_ = {kind, field, record_, offset_, expected, found};
    return false;
  }
  bool accept(Fault f) {
    if (!f || fault_) return !fault_;
    f.record = record_;
    f.offset = offset_;
    fault_ = f;
    return false;
  }

  /// nanopb's way to the bytes of the record.
  static bool pull(pb_istream_t* stream, pb_byte_t* to, std::size_t count) {
    return static_cast<Reader*>(stream->state)->read(std::as_writable_bytes(std::span(to, count)));
  }
  bool read(std::span<std::byte> to) {
    if (!source_.read(source_.state, offset_, to)) return fail(FaultKind::read_failed, "record");
    crc_.add(to);
    offset_ += to.size();
    return true;
  }
  pb_istream_t stream_of(std::size_t bytes) {
    pb_istream_t stream = {};
    stream.callback = pull;
    stream.state = this;
    stream.bytes_left = bytes;
    return stream;
  }

  bool read_record() {
    const std::uint64_t begin = offset_;
    crc_ = {};
    std::uint64_t length = 0;
    pb_istream_t prefix = stream_of(std::size_t(source_.size - offset_ < 10 ? source_.size - offset_ : 10));
    if (prefix.bytes_left == 0) return fail(FaultKind::truncated, "record", offset_ + 1, source_.size);
    if (!pb_decode_varint(&prefix, &length)) {
      return fail(prefix.bytes_left == 0 && source_.size - begin < 10 ? FaultKind::truncated : FaultKind::bad_length,
                  "record.length");
    }
    if (length > source_.size - offset_) {
      return fail(FaultKind::truncated, "record", offset_ + length, source_.size);
    }
    record_begin_ = begin;
    pb_istream_t stream = stream_of(std::size_t(length));
    return read_fields(stream);
  }

  /// Content, then crc32c, then nothing.
  bool read_fields(pb_istream_t& stream) {
    bool has_content = false;
    while (true) {
      const Crc32c before = crc_;
      pb_wire_type_t type = PB_WT_VARINT;
      std::uint32_t tag = 0;
      bool at_end = false;
      if (!pb_decode_tag(&stream, &type, &tag, &at_end)) {
        return fail(at_end ? FaultKind::bad_order : FaultKind::bad_message, at_end ? "record.crc32c" : "record");
      }
      if (tag == kCrcFieldNumber) {
        if (type != PB_WT_32BIT) return fail(FaultKind::bad_message, "record.crc32c");
        if (record_ == 0 && !has_content) return fail(FaultKind::bad_order, "header");
        return read_crc(stream, before);
      }
      const bool is_content = tag >= std::uint32_t(RecordKind::header) && tag <= std::uint32_t(RecordKind::commit);
      if (!is_content) {
        if (!pb_skip_field(&stream, type)) return fail(FaultKind::bad_message, "record");
        continue;
      }
      if (has_content || type != PB_WT_STRING) return fail(FaultKind::bad_message, "record.content");
      has_content = true;
      pb_istream_t content = {};
      if (!pb_make_string_substream(&stream, &content)) return fail(FaultKind::bad_length, "record.content");
      if (!read_content(RecordKind(tag), content)) return false;
      if (!pb_close_string_substream(&stream, &content)) return fail(FaultKind::bad_length, "record.content");
    }
  }

  bool read_crc(pb_istream_t& stream, const Crc32c& before) {
    pb_byte_t bytes[4] = {};
    if (!pb_read(&stream, bytes, sizeof bytes)) return fail(FaultKind::bad_length, "record.crc32c");
    const std::uint32_t stored = detail::word_at(reinterpret_cast<const std::byte*>(bytes));
    if (stored != before.value()) return fail(FaultKind::bad_crc, "record", before.value(), stored);
    if (stream.bytes_left != 0) return fail(FaultKind::bad_order, "record.crc32c");
    chain_.add(std::as_bytes(std::span(bytes)));
    return true;
  }

  bool read_content(RecordKind kind, pb_istream_t& content) {
    if ((record_ == 0) != (kind == RecordKind::header)) {
      return fail(FaultKind::bad_order, "record.content", std::uint64_t(RecordKind::header), std::uint64_t(kind));
    }
    switch (kind) {
      case RecordKind::header: return read_header(content);
      case RecordKind::metadata: return read_metadata(content);
      case RecordKind::tensor: return read_tensor(content);
      case RecordKind::commit: return read_commit(content);
    }
    return fail(FaultKind::bad_order, "record.content");
  }

  bool read_header(pb_istream_t& content) {
    CheckpointHeader h = thimble_checkpoint_Header_init_zero;
    if (!pb_decode(&content, thimble_checkpoint_Header_fields, &h)) return fail(FaultKind::bad_message, "header");
    if (h.format_version == 0) return fail(FaultKind::bad_value, "header.format_version", kFormatVersion, 0);
    if (h.format_version > kFormatVersion) {
      return fail(FaultKind::unsupported_format, "header.format_version", kFormatVersion, h.format_version);
    }
    keep_known(h);
    tensors_left_ = h.tensor_count;
    return accept(handler_.header(h));
  }

  bool read_metadata(pb_istream_t& content) {
    if (has_tensors_) return fail(FaultKind::bad_order, "metadata");
    thimble_checkpoint_Metadata m = thimble_checkpoint_Metadata_init_zero;
    ByteRange value{offset_, 0};
    Field field{this, &value};
    m.value.funcs.decode = take_value;
    m.value.arg = &field;
    if (!pb_decode(&content, thimble_checkpoint_Metadata_fields, &m)) return fail(FaultKind::bad_message, "metadata");
    if (m.key[0] == 0) return fail(FaultKind::bad_value, "metadata.key");
    return accept(handler_.metadata(m.key, value));
  }

  struct Field {
    Reader* reader;
    ByteRange* place;
  };
  static bool take_value(pb_istream_t* stream, const pb_field_t*, void** argument) {
    const Field& f = *static_cast<Field*>(*argument);
    *f.place = {f.reader->offset_, stream->bytes_left};
    return pb_read(stream, nullptr, stream->bytes_left);
  }

  /// A tensor message on its way in: its fields before the data are there when the data comes.
  struct TensorInput {
    Reader* reader;
    thimble_checkpoint_Tensor message = thimble_checkpoint_Tensor_init_zero;
    TensorEntry entry = {};
    Digest digest = {};
    bool has_data = false;
  };

  bool read_tensor(pb_istream_t& content) {
    if (tensors_left_ == 0) return fail(FaultKind::bad_order, "header.tensor_count");
    --tensors_left_;
    has_tensors_ = true;
    TensorInput t{this};
    t.message.data.funcs.decode = take_data;
    t.message.data.arg = &t;
    if (!pb_decode(&content, thimble_checkpoint_Tensor_fields, &t.message)) {
      return fail(FaultKind::bad_message, "tensor");
    }
    if (!t.has_data) return fail(FaultKind::bad_order, "tensor.data");
    if (t.message.digest != t.digest.value()) {
      return fail(FaultKind::bad_digest, "tensor.digest", t.digest.value(), t.message.digest);
    }
    return true;
  }

  static bool take_data(pb_istream_t* stream, const pb_field_t*, void** argument) {
    TensorInput& t = *static_cast<TensorInput*>(*argument);
    return t.reader->read_data(*stream, t);
  }

  bool read_data(pb_istream_t& stream, TensorInput& t) {
    if (t.has_data) return fail(FaultKind::bad_order, "tensor.data");
    t.has_data = true;
    thimble_checkpoint_Tensor& m = t.message;
    keep_known(m.role, _thimble_checkpoint_Role_MAX);
    keep_known(m.number_type, _thimble_checkpoint_NumberType_MAX);
    t.entry = {m.name, m.role, m.number_type, std::uint8_t(m.shape_count), {m.shape[0], m.shape[1]}};
    if (m.name[0] == 0) return fail(FaultKind::bad_value, "tensor.name");
    if (m.role == thimble_checkpoint_Role_ROLE_UNSPECIFIED) {
      return fail(FaultKind::bad_value, "tensor.role", thimble_checkpoint_Role_ROLE_WEIGHT, 0);
    }
    if (m.number_type == thimble_checkpoint_NumberType_NUMBER_TYPE_UNSPECIFIED) {
      return fail(FaultKind::bad_value, "tensor.number_type", thimble_checkpoint_NumberType_NUMBER_TYPE_F32, 0);
    }
    // In numbers, so that no product of hostile sizes can wrap.
    const std::uint64_t width = m.number_type == thimble_checkpoint_NumberType_NUMBER_TYPE_F64 ? 8 : 4;
    if (stream.bytes_left % width != 0 || stream.bytes_left / width != t.entry.count()) {
      return fail(FaultKind::bad_length, "tensor.data", t.entry.count() * width, stream.bytes_left);
    }
    std::byte* to = nullptr;
    if (!accept(handler_.tensor(t.entry, {offset_, stream.bytes_left}, to))) return false;
    return read_numbers(stream, t, to, std::size_t(width));
  }

  bool read_numbers(pb_istream_t& stream, TensorInput& t, std::byte* to, std::size_t width) {
    const bool is_weight = t.entry.role == thimble_checkpoint_Role_ROLE_WEIGHT;
    std::byte buffer[kCheckpointBuffer];
    while (stream.bytes_left > 0) {
      const std::size_t n = stream.bytes_left < sizeof buffer ? stream.bytes_left : sizeof buffer;
      std::byte* const piece = to == nullptr ? buffer : to;
      if (!pb_read(&stream, reinterpret_cast<pb_byte_t*>(piece), n)) return fail(FaultKind::read_failed, "tensor.data");
      detail::add_words(t.digest, {piece, n});
      if (is_weight) detail::add_words(weights_, {piece, n});
      if (to == nullptr) continue;
      if constexpr (std::endian::native != std::endian::little) detail::swap_numbers({piece, n}, width);
      to += n;
    }
    return true;
  }

  bool read_commit(pb_istream_t& content) {
    CheckpointCommit c = thimble_checkpoint_Commit_init_zero;
    if (!pb_decode(&content, thimble_checkpoint_Commit_fields, &c)) return fail(FaultKind::bad_message, "commit");
    if (tensors_left_ != 0) return fail(FaultKind::bad_order, "header.tensor_count", tensors_left_, 0);
    if (c.record_count != record_ + 1) {
      return fail(FaultKind::bad_value, "commit.record_count", record_ + 1, c.record_count);
    }
    if (c.byte_count != record_begin_) return fail(FaultKind::bad_value, "commit.byte_count", record_begin_, c.byte_count);
    if (c.chain_crc32c != chain_.value()) {
      return fail(FaultKind::bad_crc, "commit.chain_crc32c", chain_.value(), c.chain_crc32c);
    }
    if (c.weights_digest != weights_.value()) {
      return fail(FaultKind::bad_digest, "commit.weights_digest", weights_.value(), c.weights_digest);
    }
    committed_ = true;
    return accept(handler_.commit(c));
  }

  const ByteSource source_;
  CheckpointHandler& handler_;
  Fault fault_;
  std::uint32_t record_ = 0;
  std::uint64_t record_begin_ = 0;
  std::uint64_t offset_ = 0;
  std::uint32_t tensors_left_ = 0;
  bool has_tensors_ = false;
  bool committed_ = false;
  Crc32c crc_;
  Crc32c chain_;
  Digest weights_;
};

}  // namespace

Fault read_checkpoint(const ByteSource& source, CheckpointHandler& handler, AfterCommit after) {
  return Reader(source, handler).run(after);
}

}  // namespace thimble
