#include "tools/data/corpus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tools/files/error.hpp"

namespace thimble {
namespace {

std::vector<std::uint64_t> counts_of(std::span<const std::int32_t> ids, std::size_t id_count) {
  std::vector<std::uint64_t> counts(id_count);
  for (const std::int32_t id : ids) ++counts[static_cast<std::size_t>(id)];
  return counts;
}

std::size_t id_count_of(std::span<const std::int32_t> ids) {
  return ids.empty() ? 0 : static_cast<std::size_t>(*std::max_element(ids.begin(), ids.end())) + 1;
}

}  // namespace

Corpus::Corpus(std::vector<std::int32_t> ids, std::size_t context, double held_out_fraction,
               const std::string& where)
    : ids_(std::move(ids)), context_(context) {
  const std::size_t window = context + 1;
  if (context == 0) throw std::logic_error("a corpus needs a context of at least one");
  if (!(held_out_fraction >= 0 && held_out_fraction < 1)) {
    throw Error("held-out fraction",
                std::to_string(held_out_fraction) + " is not from 0 up to (not including) 1");
  }
  if (ids_.size() < window) {
    throw Error(where,
                "has " + std::to_string(ids_.size()) + " tokens, but one window takes " +
                    std::to_string(window) + " (context " + std::to_string(context) + " + 1)",
                "give a longer text or a model with a shorter context");
  }
  constexpr auto kMaxIds = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (ids_.size() > kMaxIds) {
    throw Error(where, "has " + std::to_string(ids_.size()) + " tokens; at most 2147483647 are drawn from");
  }
  if (*std::min_element(ids_.begin(), ids_.end()) < 0) throw std::logic_error("a corpus has no negative ids");
  train_count_ = ids_.size() - held_out_count(ids_.size(), window, held_out_fraction);
}

void Corpus::draw_windows(std::span<std::int32_t> rows, const CounterGenerator& generator,
                          std::uint64_t first_counter) const {
  const std::size_t window = context_ + 1;
  if (rows.size() % window != 0)
    throw std::logic_error("draw_windows: rows are not a multiple of context + 1");
  const auto start_count = static_cast<std::uint32_t>(train_count_ - window + 1);
  for (std::size_t row = 0; row * window < rows.size(); ++row) {
    const std::uint32_t start = uniform_below(generator, first_counter + row, start_count);
    std::copy_n(ids_.begin() + start, window, rows.begin() + static_cast<std::ptrdiff_t>(row * window));
  }
}

std::size_t Corpus::evaluation_window_count() const {
  const std::size_t count = ids_.size() - train_count_;
  return count < 2 ? 0 : (count - 1 + context_ - 1) / context_;
}

void Corpus::evaluation_window(std::size_t index, std::span<std::int32_t> window) const {
  if (index >= evaluation_window_count() || window.size() != context_ + 1) {
    throw std::logic_error("evaluation_window: no such window, or not context + 1 ids");
  }
  const std::span<const std::int32_t> rest = held_out().subspan(index * context_);
  const std::size_t count = std::min(rest.size(), window.size());
  std::copy_n(rest.begin(), count, window.begin());
  std::fill(window.begin() + static_cast<std::ptrdiff_t>(count), window.end(), kIgnoredTarget);
}

double Corpus::unigram_entropy() const {
  const std::vector<std::uint64_t> counts = counts_of(ids_, id_count_of(ids_));
  const auto total = static_cast<double>(ids_.size());
  double entropy = 0;
  for (const std::uint64_t count : counts) {
    if (count == 0) continue;
    const double p = static_cast<double>(count) / total;
    entropy -= p * std::log(p);
  }
  return entropy;
}

double Corpus::held_out_unigram_loss() const {
  const std::size_t id_count = id_count_of(ids_);
  const std::vector<std::uint64_t> seen = counts_of(train(), id_count);
  const std::vector<std::uint64_t> judged = counts_of(held_out(), id_count);
  if (held_out().empty()) return 0;
  const double total = static_cast<double>(train_count_) + static_cast<double>(id_count);
  double sum = 0;
  for (std::size_t id = 0; id < id_count; ++id) {
    sum -= static_cast<double>(judged[id]) * std::log((static_cast<double>(seen[id]) + 1) / total);
  }
  return sum / static_cast<double>(held_out().size());
}

}  // namespace thimble
