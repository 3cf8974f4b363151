#pragma once
/// Reading GGUF files of version 3, little-endian. Every file is taken as hostile: it is checked whole when it
/// is opened.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/gguf_value.hpp"
#include "tools/files/tensor_file.hpp"

namespace thimble {

/// An open GGUF file. The constructor throws `Error` unless the whole file is well-formed: no key or tensor
/// name twice, known types, at most four dimensions, and tensors that lie one behind the other in the order
/// of the table, each at the next multiple of the alignment, up to the end of the file. Quantised tensors are
/// refused. The format's dimensions, fastest first, are turned round: shapes are row-major.
class GgufFile : public TensorFile {
 public:
  using Values = std::map<std::string, GgufValue, std::less<>>;

  explicit GgufFile(const std::filesystem::path& path);

  /// The same from memory, which must outlive the object. `where` stands in messages as a path would.
  static GgufFile from_bytes(std::span<const std::byte> bytes, const std::filesystem::path& where);

  /// All metadata.
  const Values& values() const { return values_; }

  /// The value of `key`, or null when it is missing or of another type.
  template <class Value>
  const Value* value(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : std::get_if<Value>(&found->second);
  }

 private:
  GgufFile(std::span<const std::byte> bytes, const std::filesystem::path& where);

  Values values_;
};

namespace detail {

/// The number that stands for an element type in the tensor table, or nothing.
std::optional<std::uint32_t> ggml_type_of(StoredType type);

}  // namespace detail
}  // namespace thimble
