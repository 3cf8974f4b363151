// Writing GGUF files of version 3: metadata, F32 and F64 tensors, streamed, whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/files/atomic_file.hpp"
#include "tools/files/gguf_value.hpp"
#include "tools/files/stored_tensor.hpp"

namespace thimble {

/// Writes in three stages: `set` and `declare` everything, `append` the tensors' values in any order (each
/// tensor's own values in ascending order, in as many pieces as you like), `commit`. Holds no data. Until
/// `commit` returns nothing changes under the final name; without it nothing is left behind.
///
///     GgufWriter writer("model.gguf");
///     writer.set("general.architecture", "gpt2");
///     writer.set("gpt2.block_count", std::uint32_t{12});
///     writer.declare("token_embd.weight", StoredType::kF32, {50257, 768});
///     writer.append("token_embd.weight", std::as_bytes(weights));
///     writer.commit();
///
/// The file has what was set and declared in the order of the calls. Broken calls (a repeated or too long
/// name, too many bytes, `general.alignment`, which is the writer's own) are `std::logic_error`; what the
/// disk refuses is `Error`.
class GgufWriter {
 public:
  explicit GgufWriter(std::filesystem::path path);

  /// A metadata value, stored with exactly the type it has here. Only before the first `append`.
  void set(const std::string& key, const GgufValue& value);

  /// Adds a tensor of F32 or F64. The shape is row-major, as everywhere in thimble; the file gets it turned
  /// round, fastest dimension first. One to four dimensions; names up to 63 bytes, the most that ggml loads.
  void declare(const std::string& name, StoredType type, std::vector<std::uint64_t> shape);

  /// Writes the next bytes of a tensor, little-endian. The first call writes the header and opens the file.
  void append(std::string_view name, std::span<const std::byte> bytes);

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

  std::filesystem::path path_;
  std::string metadata_;  // as it stands in the file
  std::set<std::string> keys_;
  std::vector<Declared> tensors_;
  std::unordered_map<std::string, std::size_t> index_;
  std::uint64_t data_bytes_ = 0;
  std::uint64_t data_begin_ = 0;
  std::optional<AtomicFile> file_;
};

}  // namespace thimble
