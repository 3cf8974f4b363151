#pragma once
/// Writing safetensors files: streamed, whole or not at all.

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

#include "tools/files/atomic_file.hpp"
#include "tools/files/safetensors.hpp"

namespace thimble {

/// Writes in three stages: `declare` every tensor, `append` their values in any order (each tensor's own
/// values in ascending order, in as many pieces as you like), `commit`. Holds no data. Until `commit` returns
/// nothing changes under the final name; without it nothing is left behind.
///
///     SafetensorsWriter writer("model.safetensors");
///     writer.set_metadata("format", "pt");
///     writer.declare("wte.weight", StoredType::kF32, {27, 16});
///     writer.append("wte.weight", std::span<const float>(weights));
///     writer.commit();
///
/// Broken calls (an undeclared name, too many values, a type that is not the declared one) are
/// `std::logic_error`; what the disk refuses is `Error`.
class SafetensorsWriter {
 public:
  explicit SafetensorsWriter(std::filesystem::path path);

  /// An entry of `__metadata__`. Both must be UTF-8.
  void set_metadata(const std::string& key, const std::string& value);

  /// Adds a tensor. Only before the first `append`.
  void declare(const std::string& name, StoredType type, std::vector<std::uint64_t> shape);

  /// Writes the next values of a tensor. The first call writes the header and opens the file.
  void append(std::string_view name, std::span<const float> values);
  void append(std::string_view name, std::span<const double> values);
  /// All values of a tensor, as they are stored.
  void append(const StoredTensor& tensor) { append_bytes(tensor.name, tensor.type, tensor.bytes); }

  /// Checks that every tensor is complete, then puts the file in place. Call once, last.
  void commit();

 private:
  struct Declared {
    std::string name;
    StoredType type;
    std::vector<std::uint64_t> shape;
    std::uint64_t offset;  // from the start of the data
    std::uint64_t byte_count;
    std::uint64_t written_bytes;
  };

  void open();
  std::string header_text() const;
  void append_bytes(std::string_view name, StoredType type, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::map<std::string, std::string> metadata_;
  std::vector<Declared> tensors_;
  std::unordered_map<std::string, std::size_t> index_;
  std::optional<AtomicFile> file_;
  std::uint64_t data_begin_ = 0;
};

}  // namespace thimble
