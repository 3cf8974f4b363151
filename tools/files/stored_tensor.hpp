#pragma once
/// Tensors as files hold them: a name, an element type, a shape, little-endian bytes somewhere in memory.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// Element types of the files that thimble reads. `F8*` and integers can be listed, not converted.
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

/// The type of that name, in exactly this spelling.
std::optional<StoredType> stored_type_named(std::string_view name);

/// All names, for suggestions.
std::vector<std::string> stored_type_names();

/// Bytes an element takes.
std::size_t stored_type_bytes(StoredType type);

/// Bytes of a shape, or nothing when the product does not fit 64 bits.
std::optional<std::uint64_t> stored_bytes(std::span<const std::uint64_t> shape, StoredType type);

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

/// Converts a floating-point tensor (F16, BF16, F32, F64) to `out`, whose size must be the element count.
/// `Error` at `where` for other types, and for an F64 value too large for float. NaN and infinities pass: see
/// `first_non_finite`.
template <class real>
void convert_floats(const StoredTensor& tensor, std::span<real> out, const std::string& where);

/// The tensors of a file in its order, found by name.
class TensorTable {
 public:
  /// False, and nothing added, when there is one of this name already.
  bool add(StoredTensor tensor);

  const std::vector<StoredTensor>& tensors() const { return tensors_; }

  /// Null when there is no such tensor.
  const StoredTensor* find(std::string_view name) const;

  /// The tensor, with exactly this shape; `Error` at `where` names the nearest tensor or both shapes.
  const StoredTensor& require(std::string_view name, std::span<const std::uint64_t> shape,
                              const std::string& where) const;

 private:
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
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
