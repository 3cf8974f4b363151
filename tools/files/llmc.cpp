#include "tools/files/llmc.hpp"

#include <algorithm>
#include <stdexcept>

#include "tools/files/atomic_file.hpp"
#include "tools/files/error.hpp"
#include "tools/files/little_endian.hpp"
#include "tools/files/llmc_layout.hpp"

namespace thimble {
namespace {

using detail::ByteReader;
using detail::LlmcKind;

constexpr std::uint32_t kVocabularyMultiple = 128;

std::uint32_t layers_of(const LlmcKind& kind, const LlmcConfig& config) {
  return kind.layered ? config.layers : 1;
}

/// Bytes of the whole file, or nothing when 64 bits cannot count them.
std::optional<std::uint64_t> file_bytes(const LlmcConfig& config, StoredType type) {
  std::uint64_t total = detail::kLlmcHeaderBytes;
  for (const LlmcKind& kind : detail::llmc_kinds()) {
    std::vector<std::uint64_t> shape = detail::llmc_stored_shape(kind, config);
    shape.push_back(layers_of(kind, config));
    const std::optional<std::uint64_t> bytes = stored_bytes(shape, type);
    if (!bytes || total + *bytes < total) return std::nullopt;
    total += *bytes;
  }
  return total;
}

/// Reads magic, version and sizes; returns the type of the elements.
StoredType read_header(ByteReader& reader, LlmcConfig& config) {
  const std::string& where = reader.where();
  const auto next = [&] { return reader.take<std::int32_t>("the header"); };
  if (next() != detail::kLlmcMagic) {
    throw Error(where, "does not begin with the magic number 20240326; this is not a GPT-2 model of llm.c");
  }
  const std::int32_t version = next();
  if (version != detail::kLlmcVersionF32 && version != detail::kLlmcVersionBF16) {
    throw Error(where, "is version " + std::to_string(version) + "; versions 3 (F32) and 5 (BF16) are read");
  }
  // Negative sizes become too large ones, which `llmc_problem` refuses.
  for (std::uint32_t* field : {&config.context, &config.vocabulary, &config.layers, &config.heads,
                               &config.width, &config.padded_vocabulary}) {
    *field = static_cast<std::uint32_t>(next());
  }
  reader.take_bytes(detail::kLlmcHeaderBytes - reader.position(), "the header");
  const std::string problem = detail::llmc_problem(config);
  if (!problem.empty()) throw Error(where, "has sizes that no model has: " + problem);
  return version == detail::kLlmcVersionF32 ? StoredType::kF32 : StoredType::kBF16;
}

/// What `find` gave, checked.
StoredTensor checked(const FindTensor& find, const std::string& name, std::span<const std::uint64_t> shape,
                     const std::string& where) {
  StoredTensor tensor = find(name);
  if (tensor.type != StoredType::kF32) {
    throw Error(where, "tensor " + in_quotes(name) + " is " + std::string(stored_type_name(tensor.type)) +
                           ", but the file takes F32");
  }
  if (!std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end()) ||
      stored_bytes(shape, tensor.type) != tensor.bytes.size()) {
    throw Error(where, "tensor " + in_quotes(name) + " has the shape " + shape_text(tensor.shape) +
                           ", but the file takes " + shape_text(shape));
  }
  return tensor;
}

std::string header_text(const LlmcConfig& config) {
  std::string header;
  detail::put_little(header, detail::kLlmcMagic);
  detail::put_little(header, detail::kLlmcVersionF32);
  for (const std::uint32_t size : {config.context, config.vocabulary, config.layers, config.heads,
                                   config.width, config.padded_vocabulary}) {
    detail::put_little(header, size);
  }
  header.resize(detail::kLlmcHeaderBytes, '\0');
  return header;
}

}  // namespace

LlmcFile::LlmcFile(std::span<const std::byte> bytes, const std::filesystem::path& path)
    : TensorFile(path, "llmc") {
  const std::string where = path.string();
  ByteReader reader(bytes, where);
  const StoredType type = read_header(reader, config_);
  const std::optional<std::uint64_t> needed = file_bytes(config_, type);
  if (needed != bytes.size()) {
    throw Error(where, "has " + std::to_string(bytes.size()) + " bytes, but its sizes demand " +
                           (needed ? std::to_string(*needed) : "more than 64 bits can count"));
  }
  for (const LlmcKind& kind : detail::llmc_kinds()) {
    const std::vector<std::uint64_t> shape = detail::llmc_shape(kind, config_);
    const std::uint64_t stored = *stored_bytes(detail::llmc_stored_shape(kind, config_), type);
    const std::uint64_t kept = *stored_bytes(shape, type);
    for (std::uint32_t layer = 0; layer < layers_of(kind, config_); ++layer) {
      auto data = reader.take_bytes(stored, kind.name).first(static_cast<std::size_t>(kept));
      if (kind.transposed) {
        std::vector<std::byte>& turned = owned_.emplace_back(data.size());
        detail::transpose(data, static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(shape[0]),
                          stored_type_bytes(type), turned);
        data = turned;  // stays where it is when owned_ grows or moves
      }
      add({detail::llmc_name(kind, layer), type, shape, data});
    }
  }
}

LlmcFile::LlmcFile(const std::filesystem::path& path) : TensorFile(path, "llmc") {
  MappedFile file(path);
  *this = from_bytes(file.bytes(), path);
  keep(std::move(file));
}

LlmcFile LlmcFile::from_bytes(std::span<const std::byte> bytes, const std::filesystem::path& where) {
  return LlmcFile(bytes, where);
}

void write_llmc(const std::filesystem::path& path, const LlmcConfig& given, const FindTensor& find) {
  LlmcConfig config = given;
  const std::uint64_t padded = (std::uint64_t{config.vocabulary} + kVocabularyMultiple - 1) /
                               kVocabularyMultiple * kVocabularyMultiple;
  config.padded_vocabulary = static_cast<std::uint32_t>(padded);
  const std::string problem = detail::llmc_problem(config);
  if (!problem.empty()) throw std::logic_error("llm.c writer: " + problem);
  AtomicFile file(path);
  const std::string header = header_text(config);
  file.write_at(0, std::as_bytes(std::span(header)));
  std::uint64_t position = header.size();
  std::vector<std::byte> turned;
  for (const LlmcKind& kind : detail::llmc_kinds()) {
    const std::vector<std::uint64_t> shape = detail::llmc_shape(kind, config);
    const std::uint64_t stored = *stored_bytes(detail::llmc_stored_shape(kind, config), StoredType::kF32);
    for (std::uint32_t layer = 0; layer < layers_of(kind, config); ++layer) {
      const StoredTensor tensor = checked(find, detail::llmc_name(kind, layer), shape, path.string());
      std::span<const std::byte> bytes = tensor.bytes;
      if (kind.transposed) {
        turned.resize(bytes.size());
        detail::transpose(bytes, static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]),
                          sizeof(float), turned);
        bytes = turned;
      }
      file.write_at(position, bytes);
      // The padding rows of wte are a hole, which reads as zeros: wpe follows.
      position += stored;
    }
  }
  file.commit();
}

}  // namespace thimble
