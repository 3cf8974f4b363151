// The tokenizer of a text's own bytes: its distinct bytes, sorted, are the ids 0, 1, 2 ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// How often each byte occurs.
using ByteCounts = std::array<std::uint64_t, 256>;

/// Adds the bytes of `text` to `counts`.
void count_bytes(std::string_view text, ByteCounts& counts);

/// Whether a begin-of-sequence id (BOS) follows the sorted bytes.
enum class Framing { kNone, kBos };

/// Sorted distinct bytes as ids, and BOS after them where documents are framed by it.
class Symbols {
 public:
  /// Takes every byte that occurs. `Error` at `where` when there is none, and when the ids (BOS included) are
  /// more than `vocabulary`: it lists all bytes with their counts, the rarest first.
  Symbols(const ByteCounts& counts, Framing framing, std::size_t vocabulary, const std::string& where);

  /// Of a text without framing.
  static Symbols of_text(std::string_view text, std::size_t vocabulary, const std::string& where);

  /// Reads what `to_json` wrote.
  static Symbols from_json(std::string_view text, const std::string& where);

  /// {"type":"bytes","bytes":[10,32,...],"bos":27}; "bos" only where there is one. Fit for safetensors
  /// metadata.
  std::string to_json() const;

  /// Ids in use, BOS included.
  std::size_t id_count() const { return bytes_.size() + (framing_ == Framing::kBos ? 1 : 0); }

  std::optional<std::int32_t> bos() const;

  /// Id of a byte; -1 when it is none of the symbols.
  std::int32_t id_of(unsigned char byte) const { return ids_[byte]; }

  /// Ids of a text. `Error` at `where` names the first byte that is no symbol, and its position.
  std::vector<std::int32_t> encode(std::string_view text, const std::string& where) const;

  /// The text of ids. BOS, which stands between documents, reads as a line end. `Error` for an id that is no
  /// symbol.
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  Symbols(std::vector<unsigned char> bytes, Framing framing);

  std::vector<unsigned char> bytes_;     // ascending; the index is the id
  std::array<std::int32_t, 256> ids_{};  // -1: no symbol
  Framing framing_;
};

}  // namespace thimble
