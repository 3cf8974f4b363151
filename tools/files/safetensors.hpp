// Reading safetensors files: an 8-byte little-endian header length, a JSON header, the tensors' bytes.
// Format: https://huggingface.co/docs/safetensors. Every file is taken as hostile: it is checked whole when
// it is opened, and a tensor that can be asked for is a tensor whose bytes are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/files/mapped_file.hpp"

namespace thimble {

/// Element types of the format. `F8*` and integers can be listed, not converted.
enum class StoredType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kI64,
  kU64,
  kF64,
};

/// "F32" and so on.
std::string_view stored_type_name(StoredType type);

/// Bytes an element takes.
std::size_t stored_type_bytes(StoredType type);

/// The stored type of `real`: F32 of float, F64 of double.
template <class real>
constexpr StoredType stored_type_of() {
  static_assert(sizeof(real) == 4 || sizeof(real) == 8, "real is float or double");
  return sizeof(real) == 4 ? StoredType::kF32 : StoredType::kF64;
}

/// One tensor of a file. `bytes` lives as long as the file object, row-major, little-endian, at any
/// alignment.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<std::uint64_t> shape;  ///< empty for a scalar
  std::span<const std::byte> bytes;

  /// Product of the shape; 1 for a scalar.
  std::size_t element_count() const { return bytes.size() / stored_type_bytes(type); }
};

/// "[16, 48]".
std::string shape_text(std::span<const std::uint64_t> shape);

/// The place of a flat row-major index in a shape: "[3, 5]".
std::string place_text(std::span<const std::uint64_t> shape, std::size_t index);

/// An open safetensors file. The constructor throws `Error` unless the whole file is well-formed: header
/// length within the file and at most 100 MB, valid JSON without repeated names, known types, byte counts
/// equal to shape times type, and tensors that cover the data without gap or overlap.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  /// In the order of the header.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

  /// The `__metadata__` map.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Null when there is no such tensor.
  const StoredTensor* find(std::string_view name) const;

  /// The tensor, with exactly this shape; `Error` names the nearest tensor or both shapes.
  const StoredTensor& require(std::string_view name, std::span<const std::uint64_t> shape) const;

  /// Converts a floating-point tensor (F16, BF16, F32, F64) to `out`, whose size must be the element count.
  /// `Error` for other types, and for an F64 value too large for float. NaN and infinities pass: see
  /// `first_non_finite`.
  template <class real>
  void read_into(const StoredTensor& tensor, std::span<real> out) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::unordered_map<std::string_view, std::size_t> index_;  // views of the names in tensors_
};

/// Flat index of the first NaN or infinity, for F16, BF16, F32 and F64; none for other types.
std::optional<std::size_t> first_non_finite(const StoredTensor& tensor);

/// The same for numbers in memory.
template <class real>
std::optional<std::size_t> first_non_finite(std::span<const real> values);

/// Exact value of an IEEE half (binary16) given by its bits.
float float_from_half(std::uint16_t bits);

/// Exact value of a bfloat16 given by its bits.
float float_from_bfloat16(std::uint16_t bits);

}  // namespace thimble
