#pragma once
/// The text that a board trains on, read where it lies in flash. It is cut into batches as `thimble train` cuts the same
/// file: --text (random windows, the last tenth held out) or --documents --in-order (a line each).

#include "core/train/batches.hpp"

namespace thimble {

enum class TextKind : std::uint8_t {
  windows,    ///< random windows of one long text
  documents,  ///< one document a line, framed by the id after the symbols, in the order of the file
};

class TextData {
 public:
  /// The part of a text that `thimble train` holds out where nothing else is said.
  static constexpr double kHeldOut = 0.1;

  /// The text must outlive this. Call `prepare` next.
  TextData(std::span<const std::byte> text, TextKind kind) : text_(text), kind_(kind) {}

  /// Finds the symbols: the text's distinct bytes, sorted, are the ids 0, 1, 2 ... Returns what is wrong with the text
  /// for a model of that vocabulary and extent, or null: a text that begins with "the text" and that a Fault message has
  /// room for.
  const char* prepare(std::int32_t vocabulary, const Extent& limit);

  /// Writes micro-batch `index` of a run: [batch, context] each. Ascending indices are quick.
  Extent batch(std::uint64_t index, std::uint64_t seed, std::int32_t* tokens, std::int32_t* targets);

  /// What DataFingerprint says of it.
  std::uint64_t fingerprint(std::uint64_t seed);

  /// Ids in use.
  std::int32_t id_count() const { return symbol_count_ + (kind_ == TextKind::documents); }
  /// -1: no symbol.
  std::int32_t id_of(std::byte b) const { return ids_[std::size_t(b)] == kNone ? -1 : ids_[std::size_t(b)]; }
  /// The byte of an id; a line end for the id that frames documents.
  std::byte byte_of(std::int32_t id) const;
  /// The id that a sample of nothing begins with.
  std::int32_t first_id() const { return kind_ == TextKind::documents ? symbol_count_ : 0; }
  /// The id that ends a document; -1 where there are none.
  std::int32_t end_id() const { return kind_ == TextKind::documents ? symbol_count_ : -1; }
  TextKind kind() const { return kind_; }

 private:
  static constexpr std::uint8_t kNone = 0xFF;

  /// One document: its bytes.
  using Document = std::span<const std::byte>;
  Document document_at(std::size_t& offset) const;
  Document document(std::uint64_t index);
  std::int32_t document_length(Document d) const;
  std::int32_t document_id(Document d, std::int32_t position) const;
  void batch_of_documents(std::uint64_t index, std::int32_t* tokens, std::int32_t* targets, Extent& extent);

  std::span<const std::byte> text_;
  TextKind kind_;
  Extent extent_;                   ///< of the batches; documents: of the longest
  std::int32_t symbol_count_ = 0;
  std::uint32_t document_count_ = 0;
  std::size_t train_count_ = 0;     ///< windows: ids to train on
  std::uint32_t next_document_ = 0;
  std::size_t next_offset_ = 0;
  std::uint8_t ids_[256] = {};
};

}  // namespace thimble
