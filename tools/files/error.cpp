#include "tools/files/error.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace thimble {
namespace {

std::string joined(const std::string& where, const std::string& problem, const std::string& advice) {
  std::string text = where.empty() ? problem : where + ": " + problem;
  if (!advice.empty()) text += "; " + advice;
  return text;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Optimal string alignment distance: Levenshtein's with the swap of two neighbours as one edit.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

Error::Error(const std::string& where, const std::string& problem, const std::string& advice)
    : std::runtime_error(joined(where, problem, advice)), where_(where), problem_(problem), advice_(advice) {}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxBytes = 60;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\' || c == '\'') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte > 0x7e) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  out += text.size() > kMaxBytes ? "...'" : "'";
  return out;
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t kMaxName = 200;  // the distance costs the product of the lengths
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  if (name.size() > kMaxName) return {};
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    const std::size_t longer = std::max(name.size(), candidate.size());
    const bool meant = distance < longer && distance <= std::max<std::size_t>(1, longer / 3);
    if (meant && (best == nullptr || distance < best_distance)) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string best = nearest(name, candidates);
  return best.empty() ? best : "did you mean " + in_quotes(best) + "?";
}

}  // namespace thimble
