#include "tools/files/gguf_writer.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "tools/files/error.hpp"
#include "tools/files/gguf.hpp"
#include "tools/files/little_endian.hpp"

namespace thimble {
namespace {

using detail::put_little;

constexpr std::size_t kMaxNameBytes = 63;  // GGML_MAX_NAME without its zero byte

[[noreturn]] void misuse(std::string_view name, const std::string& problem) {
  throw std::logic_error("gguf writer: " + in_quotes(name) + " " + problem);
}

void put_string(std::string& out, std::string_view text) {
  put_little(out, std::uint64_t{text.size()});
  out += text;
}

template <class Value>
void put_value(std::string& out, const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    put_string(out, value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    put_little(out, static_cast<std::uint8_t>(value));
  } else {
    put_little(out, value);
  }
}

/// A metadata value behind its type.
struct ValueWriter {
  std::string& out;

  template <class Value>
  void operator()(const Value& value) const {
    put_little(out, detail::kGgufTypeOf<Value>);
    put_value(out, value);
  }

  template <class Value>
  void operator()(const std::vector<Value>& values) const {
    put_little(out, detail::kGgufArray);
    put_little(out, detail::kGgufTypeOf<Value>);
    put_little(out, std::uint64_t{values.size()});
    for (const auto& value : values) put_value<Value>(out, value);
  }
};

}  // namespace

GgufWriter::GgufWriter(std::filesystem::path path) : path_(std::move(path)) {}

void GgufWriter::set(const std::string& key, const GgufValue& value) {
  if (file_) misuse(key, "is set after the first append");
  if (key.empty() || key.size() > detail::kGgufMaxKeyBytes) misuse(key, "is no key of 1 to 65535 bytes");
  if (key == detail::kGgufAlignmentKey) misuse(key, "is not yours to set");
  if (!keys_.insert(key).second) misuse(key, "is set twice");
  put_string(metadata_, key);
  std::visit(ValueWriter{metadata_}, value);
}

void GgufWriter::declare(const std::string& name, StoredType type, std::vector<std::uint64_t> shape) {
  if (file_) misuse(name, "is declared after the first append");
  if (type != StoredType::kF32 && type != StoredType::kF64) misuse(name, "is neither F32 nor F64");
  if (name.empty() || name.size() > kMaxNameBytes) misuse(name, "is no name of 1 to 63 bytes");
  if (shape.empty() || shape.size() > detail::kGgufMaxDimensions) misuse(name, "has not 1 to 4 dimensions");
  const std::optional<std::uint64_t> byte_count = stored_bytes(shape, type);
  constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::int64_t>::max() / 2;
  if (!byte_count || *byte_count > kMaxBytes - data_bytes_) misuse(name, "is too large");
  if (!index_.emplace(name, tensors_.size()).second) misuse(name, "is declared twice");
  tensors_.push_back({name, type, std::move(shape), data_bytes_, *byte_count, 0});
  data_bytes_ = detail::round_up(data_bytes_ + *byte_count, detail::kGgufAlignment);
}

void GgufWriter::append(std::string_view name, std::span<const std::byte> bytes) {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) misuse(name, "was not declared");
  Declared& tensor = tensors_[found->second];
  if (bytes.size() > tensor.byte_count - tensor.written_bytes) misuse(name, "is given more than it holds");
  if (!file_) open();
  file_->write_at(data_begin_ + tensor.offset + tensor.written_bytes, bytes);
  tensor.written_bytes += bytes.size();
}

void GgufWriter::commit() {
  for (const Declared& tensor : tensors_) {
    if (tensor.written_bytes != tensor.byte_count) {
      misuse(tensor.name, "got " + std::to_string(tensor.written_bytes) + " of " +
                              std::to_string(tensor.byte_count) + " bytes");
    }
  }
  if (!file_) open();
  // ggml wants the padding behind the last tensor, too. Between tensors the file's holes are zeros.
  const std::uint64_t end = tensors_.empty() ? 0 : tensors_.back().offset + tensors_.back().byte_count;
  const std::string padding(static_cast<std::size_t>(data_bytes_ - end), '\0');
  file_->write_at(data_begin_ + end, std::as_bytes(std::span(padding)));
  file_->commit();
}

void GgufWriter::open() {
  std::string header = detail::kGgufMagic;
  put_little(header, detail::kGgufVersion);
  put_little(header, std::uint64_t{tensors_.size()});
  put_little(header, std::uint64_t{keys_.size()});
  header += metadata_;
  for (const Declared& tensor : tensors_) {
    put_string(header, tensor.name);
    put_little(header, static_cast<std::uint32_t>(tensor.shape.size()));
    std::for_each(tensor.shape.rbegin(), tensor.shape.rend(),
                  [&](std::uint64_t size) { put_little(header, size); });
    put_little(header, *detail::ggml_type_of(tensor.type));
    put_little(header, tensor.offset);
  }
  data_begin_ = detail::round_up(header.size(), detail::kGgufAlignment);
  header.resize(static_cast<std::size_t>(data_begin_), '\0');
  file_.emplace(path_);
  file_->write_at(0, std::as_bytes(std::span(header)));
}

}  // namespace thimble
