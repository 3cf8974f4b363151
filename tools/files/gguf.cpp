#include "tools/files/gguf.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "tools/files/error.hpp"
#include "tools/files/little_endian.hpp"

namespace thimble {
namespace {

using detail::ByteReader;
using detail::kGgufTypeOf;

struct TypeRow {
  StoredType type;
  std::uint32_t number;
};

constexpr TypeRow kTypes[] = {
    {StoredType::kF32, 0},  {StoredType::kF16, 1},  {StoredType::kI8, 24},  {StoredType::kI16, 25},
    {StoredType::kI32, 26}, {StoredType::kI64, 27}, {StoredType::kF64, 28}, {StoredType::kBF16, 30},
};

/// A tensor as the table states it.
struct TableRow {
  StoredTensor tensor;
  std::uint64_t offset = 0;
  std::uint64_t byte_count = 0;
};

std::string_view take_string(ByteReader& reader, std::string_view what) {
  return reader.take_text(reader.take<std::uint64_t>(what), what);
}

template <class Value>
Value take_value(ByteReader& reader, const std::string& what) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return std::string(take_string(reader, what));
  } else if constexpr (std::is_same_v<Value, bool>) {
    const auto byte = reader.take<std::uint8_t>(what);
    if (byte > 1) throw Error(reader.where(), what + " holds a boolean that is neither 0 nor 1");
    return byte == 1;
  } else {
    return reader.take<Value>(what);
  }
}

template <class Value>
std::vector<Value> take_array(ByteReader& reader, const std::string& what) {
  // A string takes at least its length.
  constexpr std::size_t kLeastBytes = std::is_same_v<Value, std::string> ? 8 : sizeof(Value);
  const auto count = reader.take<std::uint64_t>(what);
  if (count > reader.left() / kLeastBytes) {
    throw Error(reader.where(), what + " states " + std::to_string(count) + " elements, but only " +
                                    std::to_string(reader.left()) + " bytes follow");
  }
  std::vector<Value> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(take_value<Value>(reader, what));
  return values;
}

/// Finds the type among the alternatives of the format and takes a value of it.
template <bool array, class First, class... Rest>
GgufValue take_typed(ByteReader& reader, std::uint32_t type, const std::string& what) {
  if (type == kGgufTypeOf<First>) {
    if constexpr (array)
      return take_array<First>(reader, what);
    else
      return take_value<First>(reader, what);
  }
  if constexpr (sizeof...(Rest) > 0) {
    return take_typed<array, Rest...>(reader, type, what);
  } else {
    throw Error(reader.where(), what + " has the type " + std::to_string(type) + ", which is not supported");
  }
}

template <bool array>
GgufValue take_any(ByteReader& reader, std::uint32_t type, const std::string& what) {
  return take_typed<array, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                    std::int32_t, float, bool, std::string, std::uint64_t, std::int64_t, double>(reader, type,
                                                                                                 what);
}

GgufFile::Values read_metadata(ByteReader& reader, std::uint64_t count) {
  GgufFile::Values metadata;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key(take_string(reader, "a metadata key"));
    const std::string what = "metadata " + in_quotes(key);
    if (key.empty() || key.size() > detail::kGgufMaxKeyBytes) {
      throw Error(reader.where(), what + " has a key of " + std::to_string(key.size()) + " bytes");
    }
    const auto type = reader.take<std::uint32_t>(what);
    GgufValue value = type == detail::kGgufArray
                          ? take_any<true>(reader, reader.take<std::uint32_t>(what), what)
                          : take_any<false>(reader, type, what);
    if (!metadata.emplace(key, std::move(value)).second) {
      throw Error(reader.where(), what + " stands twice");
    }
  }
  return metadata;
}

std::uint64_t alignment_of(const GgufFile::Values& metadata, const std::string& where) {
  const auto found = metadata.find(detail::kGgufAlignmentKey);
  if (found == metadata.end()) return detail::kGgufAlignment;
  const auto* value = std::get_if<std::uint32_t>(&found->second);
  if (value == nullptr || *value < 8 || !std::has_single_bit(*value)) {
    throw Error(where, "general.alignment is not a uint32 that is a power of two from 8 on");
  }
  return *value;
}

StoredType stored_type_of_number(std::uint32_t number, const std::string& what, const std::string& where) {
  for (const TypeRow& row : kTypes) {
    if (row.number == number) return row.type;
  }
  throw Error(where,
              what + " has the ggml type " + std::to_string(number) +
                  ", which is quantised or unknown; F32, F16, BF16, F64 and integers are read",
              "convert the model to F32 first");
}

TableRow read_row(ByteReader& reader) {
  TableRow row;
  row.tensor.name = take_string(reader, "a tensor's name");
  const std::string what = "tensor " + in_quotes(row.tensor.name);
  if (row.tensor.name.empty()) throw Error(reader.where(), "a tensor has an empty name");
  const auto dimensions = reader.take<std::uint32_t>(what);
  if (dimensions > detail::kGgufMaxDimensions) {
    throw Error(reader.where(),
                what + " has " + std::to_string(dimensions) + " dimensions; at most 4 are possible");
  }
  for (std::uint32_t i = 0; i < dimensions; ++i) row.tensor.shape.push_back(reader.take<std::uint64_t>(what));
  std::reverse(row.tensor.shape.begin(), row.tensor.shape.end());
  row.tensor.type = stored_type_of_number(reader.take<std::uint32_t>(what), what, reader.where());
  row.offset = reader.take<std::uint64_t>(what);
  const auto byte_count = stored_bytes(row.tensor.shape, row.tensor.type);
  if (!byte_count) {
    throw Error(reader.where(), what + " has the shape " + shape_text(row.tensor.shape) +
                                    ", more bytes than 64 bits can count");
  }
  row.byte_count = *byte_count;
  return row;
}

}  // namespace

GgufFile::GgufFile(std::span<const std::byte> bytes, const std::filesystem::path& path)
    : TensorFile(path, "gguf") {
  const std::string where = path.string();
  ByteReader reader(bytes, where);
  if (reader.take_text(4, "the magic") != detail::kGgufMagic) {
    throw Error(where, "does not begin with GGUF; this is not a GGUF file");
  }
  const auto version = reader.take<std::uint32_t>("the version");
  if (version != detail::kGgufVersion) {
    throw Error(where, "is GGUF version " + std::to_string(version) + "; version 3, little-endian, is read");
  }
  const auto tensor_count = reader.take<std::uint64_t>("the tensor count");
  const auto value_count = reader.take<std::uint64_t>("the metadata count");
  values_ = read_metadata(reader, value_count);
  const std::uint64_t alignment = alignment_of(values_, where);
  std::vector<TableRow> rows;
  for (std::uint64_t i = 0; i < tensor_count; ++i) rows.push_back(read_row(reader));
  const std::uint64_t data_begin = detail::round_up(reader.position(), alignment);
  std::uint64_t end = 0;       // of the tensors so far, from the beginning of the data
  std::uint64_t expected = 0;  // where the next one must begin
  for (TableRow& row : rows) {
    const std::string what = "tensor " + in_quotes(row.tensor.name);
    if (row.offset != expected) {
      throw Error(where, what + " begins at byte " + std::to_string(row.offset) +
                             " of the data, but the one before it leaves " + std::to_string(expected));
    }
    if (data_begin + row.offset > bytes.size() || row.byte_count > bytes.size() - data_begin - row.offset) {
      throw Error(where, what + " reaches past the end of the file");
    }
    row.tensor.bytes = bytes.subspan(static_cast<std::size_t>(data_begin + row.offset),
                                     static_cast<std::size_t>(row.byte_count));
    end = row.offset + row.byte_count;
    expected = detail::round_up(end, alignment);
    if (!add(std::move(row.tensor))) throw Error(where, what + " stands twice in the table");
  }
  // The padding behind the last tensor may be missing.
  const std::uint64_t least = rows.empty() ? reader.position() : data_begin + end;
  if (bytes.size() < least || bytes.size() > data_begin + expected) {
    throw Error(where, "has " + std::to_string(bytes.size()) + " bytes, but its tensors end at byte " +
                           std::to_string(least));
  }
}

GgufFile::GgufFile(const std::filesystem::path& path) : TensorFile(path, "gguf") {
  MappedFile file(path);
  *this = from_bytes(file.bytes(), path);
  keep(std::move(file));
}

GgufFile GgufFile::from_bytes(std::span<const std::byte> bytes, const std::filesystem::path& where) {
  return GgufFile(bytes, where);
}

namespace detail {

std::optional<std::uint32_t> ggml_type_of(StoredType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.number;
  }
  return std::nullopt;
}

}  // namespace detail
}  // namespace thimble
