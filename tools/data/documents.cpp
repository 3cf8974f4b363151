#include "tools/data/documents.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tools/files/error.hpp"
#include "tools/files/text_file.hpp"

namespace thimble {
namespace {

/// Calls `visit` with every line that is not empty.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) visit(line);
  }
}

Symbols symbols_of(std::string_view text, std::size_t vocabulary, const std::string& where) {
  ByteCounts counts{};
  std::size_t documents = 0;
  for_each_line(text, [&](std::string_view line) {
    count_bytes(line, counts);
    ++documents;
  });
  if (documents == 0) throw Error(where, "has no documents", "give one document a line");
  if (documents > std::numeric_limits<std::uint32_t>::max()) throw Error(where, "has too many documents");
  return Symbols(counts, Framing::kBos, vocabulary, where);
}

}  // namespace

Documents::Documents(std::string_view text, std::size_t context, std::size_t vocabulary,
                     const std::string& where)
    : symbols_(symbols_of(text, vocabulary, where)), begins_{0} {
  if (context == 0) throw std::logic_error("documents need a context of at least one");
  const std::int32_t bos = *symbols_.bos();
  for_each_line(text, [&](std::string_view line) {
    const std::size_t whole = line.size() + 2;
    const std::size_t kept = std::min(whole, context + 1);
    ids_.push_back(bos);
    for (const char c : line.substr(0, kept - 1))
      ids_.push_back(symbols_.id_of(static_cast<unsigned char>(c)));
    if (kept == whole) ids_.push_back(bos);
    begins_.push_back(ids_.size());
    longest_ = std::max(longest_, kept);
    cut_count_ += kept < whole ? 1 : 0;
  });
}

std::vector<std::uint32_t> shuffled_order(std::uint32_t count, const CounterGenerator& generator,
                                          std::uint64_t epoch) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = count; i-- > 1;) {
    const std::uint32_t other = uniform_below(generator, epoch * count + i, i + 1);
    std::swap(order[i], order[other]);
  }
  return order;
}

DocumentOrder::DocumentOrder(std::size_t count) : DocumentOrder(count, nullptr) {}

DocumentOrder::DocumentOrder(std::size_t count, CounterGenerator generator)
    : count_(count), generator_(std::move(generator)) {
  if (count == 0) throw std::logic_error("an order of no documents");
}

std::size_t DocumentOrder::at(std::uint64_t step) {
  const auto index = static_cast<std::size_t>(step % count_);
  if (!generator_) return index;
  const std::uint64_t epoch = step / count_;
  if (order_.empty() || epoch != epoch_) {
    order_ = shuffled_order(static_cast<std::uint32_t>(count_), generator_, epoch);
    epoch_ = epoch;
  }
  return order_[index];
}

}  // namespace thimble
