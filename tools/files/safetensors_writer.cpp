#include "tools/files/safetensors_writer.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/files/error.hpp"
#include "tools/files/safetensors_header.hpp"

namespace thimble {
namespace {

[[noreturn]] void misuse(std::string_view name, const std::string& problem) {
  throw std::logic_error("safetensors writer: tensor " + in_quotes(name) + " " + problem);
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::filesystem::path path) : path_(std::move(path)) {}

void SafetensorsWriter::set_metadata(const std::string& key, const std::string& value) {
  metadata_[key] = value;
}

void SafetensorsWriter::declare(const std::string& name, StoredType type, std::vector<std::uint64_t> shape) {
  if (file_) misuse(name, "is declared after the first append");
  if (name == "__metadata__") misuse(name, "has the name of the metadata");
  if (!index_.emplace(name, tensors_.size()).second) misuse(name, "is declared twice");
  const std::optional<std::uint64_t> byte_count = stored_bytes(shape, type);
  if (!byte_count) misuse(name, "is too large");
  tensors_.push_back({name, type, std::move(shape), 0, *byte_count, 0});
}

void SafetensorsWriter::append(std::string_view name, std::span<const float> values) {
  append_bytes(name, StoredType::kF32, std::as_bytes(values));
}

void SafetensorsWriter::append(std::string_view name, std::span<const double> values) {
  append_bytes(name, StoredType::kF64, std::as_bytes(values));
}

void SafetensorsWriter::append_bytes(std::string_view name, StoredType type,
                                     std::span<const std::byte> bytes) {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) misuse(name, "was not declared");
  Declared& tensor = tensors_[found->second];
  if (tensor.type != type) misuse(name, "was declared as " + std::string(stored_type_name(tensor.type)));
  if (bytes.size() > tensor.byte_count - tensor.written_bytes)
    misuse(name, "is given more values than its shape holds");
  if (!file_) open();
  file_->write_at(data_begin_ + tensor.offset + tensor.written_bytes, bytes);
  tensor.written_bytes += bytes.size();
}

void SafetensorsWriter::commit() {
  for (const Declared& tensor : tensors_) {
    if (tensor.written_bytes != tensor.byte_count) {
      misuse(tensor.name, "got " + std::to_string(tensor.written_bytes) + " of " +
                              std::to_string(tensor.byte_count) + " bytes");
    }
  }
  if (!file_) open();
  file_->commit();
}

void SafetensorsWriter::open() {
  // Wider elements first: then every tensor is aligned to its element, as the data begin at a multiple of 8.
  std::uint64_t offset = 0;
  for (const std::size_t width : {8, 4, 2, 1}) {
    for (Declared& tensor : tensors_) {
      if (stored_type_bytes(tensor.type) != width) continue;
      tensor.offset = offset;
      offset += tensor.byte_count;
    }
  }
  const std::string header = header_text();
  if (header.size() > detail::kMaxHeaderBytes) {
    throw Error(path_.string(), "the header would take " + std::to_string(header.size()) +
                                    " bytes; the format allows 100000000");
  }
  std::string prefix(detail::kLengthBytes, '\0');
  for (std::size_t i = 0; i < detail::kLengthBytes; ++i) {
    prefix[i] = static_cast<char>((std::uint64_t{header.size()} >> (8 * i)) & 0xff);
  }
  prefix += header;
  data_begin_ = prefix.size();
  file_.emplace(path_);
  file_->write_at(0, std::as_bytes(std::span(prefix)));
}

std::string SafetensorsWriter::header_text() const {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata_.empty()) header["__metadata__"] = metadata_;
  // push_back instead of operator[]: the ordered map would search all earlier names for each new one.
  auto& fields = header.get_ref<nlohmann::ordered_json::object_t&>();
  for (const Declared& tensor : tensors_) {
    nlohmann::ordered_json entry;
    entry["dtype"] = stored_type_name(tensor.type);
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = {tensor.offset, tensor.offset + tensor.byte_count};
    fields.push_back({tensor.name, std::move(entry)});
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(path_.string(), "a tensor's name or a metadata text is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace thimble
