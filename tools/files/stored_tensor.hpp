#pragma once
/// A tensor as a file holds it: a name, a shape, and bytes in one of the usual number types.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// Element types, under the names of safetensors. `F8*` and integers can be listed, not converted.
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
