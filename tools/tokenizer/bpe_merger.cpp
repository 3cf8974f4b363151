#include "tools/tokenizer/bpe_merger.hpp"

#include <algorithm>
#include <bit>
#include <queue>

#include "tools/tokenizer/byte_alphabet.hpp"

namespace thimble {

namespace {

constexpr std::size_t kScanLimit = 48;  // longer pre-tokens go by the heap

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return (std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right)) + 1;
}

std::size_t hash_of(std::uint64_t key) { return std::size_t((key * 0x9e3779b97f4a7c15u) >> 20); }

}  // namespace

BpeMerger::BpeMerger(const BpeVocabulary& v) : slots_(std::bit_ceil(2 * v.merges.size() + 2)) {
  byte_ids_.fill(-1);
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    if (v.special.contains(v.tokens[id])) continue;
    const auto bytes = from_byte_alphabet(v.tokens[id]);
    if (bytes && bytes->size() == 1) byte_ids_[static_cast<unsigned char>(bytes->front())] = std::int32_t(id);
  }
  for (const BpeMerge& m : v.merges) {
    const std::uint64_t key = key_of(m.left, m.right);
    std::size_t at = hash_of(key) & (slots_.size() - 1);
    while (slots_[at].key) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, std::int32_t(results_.size())};
    results_.push_back(m.result);
  }
}

std::int32_t BpeMerger::rank_of(std::int32_t left, std::int32_t right) const {
  const std::uint64_t key = key_of(left, right);
  for (std::size_t at = hash_of(key);; ++at) {
    const Slot& s = slots_[at & (slots_.size() - 1)];
    if (s.key == key || !s.key) return s.rank;
  }
}

void BpeMerger::encode(std::string_view bytes, std::vector<std::int32_t>& ids) const {
  const auto id_of = [this](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
  if (bytes.size() > kScanLimit) {
    std::vector<std::int32_t> symbols(bytes.size());
    std::transform(bytes.begin(), bytes.end(), symbols.begin(), id_of);
    return merge_by_heap(std::move(symbols), ids);
  }
  std::array<std::int32_t, kScanLimit> symbols;
  std::transform(bytes.begin(), bytes.end(), symbols.begin(), id_of);
  scan(std::span(symbols).first(bytes.size()), ids);
}

void BpeMerger::scan(std::span<std::int32_t> symbols, std::vector<std::int32_t>& ids) const {
  std::array<std::int32_t, kScanLimit> ranks;  // of each symbol with the one after it
  std::size_t count = symbols.size();
  for (std::size_t i = 0; i + 1 < count; ++i) ranks[i] = rank_of(symbols[i], symbols[i + 1]);
  while (count > 1) {
    const std::size_t best = std::size_t(std::min_element(ranks.begin(), ranks.begin() + count - 1) - ranks.begin());
    if (ranks[best] == kNoRank) break;
    symbols[best] = results_[std::size_t(ranks[best])];
    --count;
    for (std::size_t i = best + 1; i < count; ++i) symbols[i] = symbols[i + 1];
    for (std::size_t i = best + 1; i + 1 < count; ++i) ranks[i] = ranks[i + 1];
    if (best + 1 < count) ranks[best] = rank_of(symbols[best], symbols[best + 1]);
    if (best > 0) ranks[best - 1] = rank_of(symbols[best - 1], symbols[best]);
  }
  ids.insert(ids.end(), symbols.begin(), symbols.begin() + std::ptrdiff_t(count));
}

void BpeMerger::merge_by_heap(std::vector<std::int32_t> symbols, std::vector<std::int32_t>& ids) const {
  constexpr std::size_t kEnd = std::size_t(-1);
  struct Link {
    std::size_t before, after;
    std::int32_t rank;  // of the pair with the symbol after
  };
  using Candidate = std::pair<std::int32_t, std::size_t>;  // rank, place: the heap's order is the merges' order
  const std::size_t count = symbols.size();
  std::vector<Link> links(count);
  std::vector<Candidate> first;
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    links[i] = {i - 1, last ? kEnd : i + 1, last ? kNoRank : rank_of(symbols[i], symbols[i + 1])};
    if (links[i].rank != kNoRank) first.emplace_back(links[i].rank, i);
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap(std::greater<>(), std::move(first));
  const auto renew = [&](std::size_t at) {
    const std::size_t after = links[at].after;
    links[at].rank = after == kEnd ? kNoRank : rank_of(symbols[at], symbols[after]);
    if (links[at].rank != kNoRank) heap.emplace(links[at].rank, at);
  };
  while (!heap.empty()) {
    const auto [rank, at] = heap.top();
    heap.pop();
    if (links[at].rank != rank) continue;  // one of the two was merged meanwhile
    const std::size_t gone = links[at].after;
    symbols[at] = results_[std::size_t(rank)];
    links[gone].rank = kNoRank;
    links[at].after = links[gone].after;
    if (links[at].after != kEnd) links[links[at].after].before = at;
    renew(at);
    if (links[at].before != kEnd) renew(links[at].before);
  }
  for (std::size_t at = 0; at != kEnd; at = links[at].after) ids.push_back(symbols[at]);
}

}  // namespace thimble
