#pragma once
/// The merges of byte-level BPE, applied to one pre-token.

#include <array>
#include <span>

#include "tools/tokenizer/bpe_vocabulary.hpp"

namespace thimble {

/// Applies merges one at a time: always the one of the lowest rank, and of several such the leftmost.
class BpeMerger {
 public:
  explicit BpeMerger(const BpeVocabulary& vocabulary);

  /// Appends the tokens of `bytes` to `ids`. Takes O(n log n), whatever the bytes are; a short pre-token is scanned.
  void encode(std::string_view bytes, std::vector<std::int32_t>& ids) const;

 private:
  static constexpr std::int32_t kNoRank = 0x7fffffff;

  /// Pair -> rank, open addressing. `key` 0 is a free place: keys are one more than the pair.
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t rank = kNoRank;
  };

  std::int32_t rank_of(std::int32_t left, std::int32_t right) const;
  void scan(std::span<std::int32_t> symbols, std::vector<std::int32_t>& ids) const;
  void merge_by_heap(std::vector<std::int32_t> symbols, std::vector<std::int32_t>& ids) const;

  std::array<std::int32_t, 256> byte_ids_;
  std::vector<std::int32_t> results_;  // by rank
  std::vector<Slot> slots_;
};

}  // namespace thimble
