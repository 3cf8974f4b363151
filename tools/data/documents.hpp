// Many short documents, one a line, each framed by BOS: [BOS] d o c [BOS].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/data/symbols.hpp"
#include "tools/data/window.hpp"

namespace thimble {

/// The documents of a text. Empty lines are skipped, a carriage return before the line end and a byte order
/// mark at the start are dropped. The symbols are the sorted distinct bytes of all documents; BOS is the id
/// that follows.
class Documents {
 public:
  /// Documents of more than `context` + 1 tokens are cut to that. `Error` at `where` when there is no
  /// document and when the symbols and BOS exceed `vocabulary`.
  Documents(std::string_view text, std::size_t context, std::size_t vocabulary, const std::string& where);

  std::size_t count() const { return begins_.size() - 1; }

  /// Tokens of a document in file order: 3 to context + 1 of them (a document of one symbol is BOS, id, BOS),
  /// or 2 where the context is 1.
  std::span<const std::int32_t> tokens(std::size_t index) const {
    return std::span(ids_).subspan(begins_[index], begins_[index + 1] - begins_[index]);
  }

  /// Tokens of the longest document, at most context + 1.
  std::size_t longest() const { return longest_; }

  /// Documents that were cut.
  std::size_t cut_count() const { return cut_count_; }

  const Symbols& symbols() const { return symbols_; }

 private:
  Symbols symbols_;
  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> begins_;  // one more than documents
  std::size_t longest_ = 0;
  std::size_t cut_count_ = 0;
};

/// Numbers 0 to count - 1 shuffled (Fisher-Yates), by counters epoch * count + i: every epoch has an order of
/// its own that can be drawn without the ones before.
std::vector<std::uint32_t> shuffled_order(std::uint32_t count, const CounterGenerator& generator,
                                          std::uint64_t epoch);

/// Which document a step trains on: the file's order again and again, or a new shuffled order each epoch.
class DocumentOrder {
 public:
  /// In file order.
  explicit DocumentOrder(std::size_t count);

  /// In a seeded order.
  DocumentOrder(std::size_t count, CounterGenerator generator);

  /// The document of a step, counted from 0. Steps may be asked for in any order; ascending ones are quick.
  std::size_t at(std::uint64_t step);

 private:
  std::size_t count_;
  CounterGenerator generator_;  // empty: file order
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> order_;  // of that epoch; empty until first needed
};

}  // namespace thimble
