#include "tools/data/quantile_bins.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "tools/files/error.hpp"
#include "tools/files/json_text.hpp"

namespace thimble {
namespace {

/// Median of a sorted, non-empty range; between the two middle values where their number is even.
double median_of(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : std::midpoint(sorted[middle - 1], sorted[middle]);
}

std::vector<double> number_list(const nlohmann::json& json, const char* name, const std::string& where) {
  const nlohmann::json list = json.value(name, nlohmann::json());
  std::vector<double> numbers;
  bool good = list.is_array();
  for (std::size_t i = 0; good && i < list.size(); ++i) {
    good = list[i].is_number() && (i == 0 || numbers.back() < list[i].get<double>());
    if (good) numbers.push_back(list[i].get<double>());
  }
  if (!good) throw Error(where, std::string("the tokenizer's \"") + name + "\" are not ascending numbers");
  return numbers;
}

}  // namespace

QuantileBins QuantileBins::fit(std::span<const double> values, std::size_t bins, const std::string& where) {
  if (bins < 2) throw Error(where, std::to_string(bins) + " bins tell nothing apart", "use at least 2");
  if (values.empty()) throw Error(where, "has no values to fit bins to");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) throw Error(where, "value " + std::to_string(i) + " is not finite");
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() == sorted.back()) {
    throw Error(where, "is constant (" + nlohmann::json(sorted.front()).dump() + " in all " +
                           std::to_string(sorted.size()) + " lines): there is nothing to learn");
  }

  QuantileBins fitted;
  double last = sorted.front();
  for (std::size_t k = 1; k < bins; ++k) {
    const auto rank = static_cast<std::size_t>(static_cast<double>(sorted.size()) *
                                               (static_cast<double>(k) / static_cast<double>(bins)));
    const double edge = sorted[std::min(rank, sorted.size() - 1)];
    if (edge > last) fitted.edges_.push_back(last = edge);
  }
  // All quantiles may fall on a very frequent smallest value: the values above it then share a bin of their
  // own.
  if (fitted.edges_.empty()) {
    fitted.edges_.push_back(*std::upper_bound(sorted.begin(), sorted.end(), sorted.front()));
  }
  auto begin = sorted.begin();
  for (std::size_t k = 0; k <= fitted.edges_.size(); ++k) {
    const auto end =
        k < fitted.edges_.size() ? std::lower_bound(begin, sorted.end(), fitted.edges_[k]) : sorted.end();
    fitted.medians_.push_back(median_of({begin, end}));
    begin = end;
  }
  return fitted;
}

std::int32_t QuantileBins::encode(double value) const {
  if (!std::isfinite(value)) throw Error("value to encode", "is not finite");
  return static_cast<std::int32_t>(std::upper_bound(edges_.begin(), edges_.end(), value) - edges_.begin());
}

std::vector<std::int32_t> QuantileBins::encode(std::span<const double> values) const {
  std::vector<std::int32_t> tokens;
  tokens.reserve(values.size());
  for (const double value : values) tokens.push_back(encode(value));
  return tokens;
}

double QuantileBins::decode(std::int32_t token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= medians_.size()) {
    throw Error("token ids", "id " + std::to_string(token) + " is none of the " +
                                 std::to_string(medians_.size()) + " bins");
  }
  return medians_[static_cast<std::size_t>(token)];
}

std::string QuantileBins::to_json() const {
  nlohmann::ordered_json json;
  json["type"] = "quantiles";
  json["edges"] = edges_;
  json["medians"] = medians_;
  return json.dump();
}

QuantileBins QuantileBins::from_json(std::string_view text, const std::string& where) {
  const nlohmann::json json = parse_json(text, where);
  if (!json.is_object() || json.value("type", nlohmann::json()) != "quantiles") {
    throw Error(where, "the tokenizer is not of the type \"quantiles\"");
  }
  QuantileBins bins;
  bins.edges_ = number_list(json, "edges", where);
  bins.medians_ = number_list(json, "medians", where);
  if (bins.edges_.empty() || bins.medians_.size() != bins.edges_.size() + 1) {
    throw Error(where, "the tokenizer has " + std::to_string(bins.edges_.size()) + " edges and " +
                           std::to_string(bins.medians_.size()) + " medians; one more median is needed");
  }
  for (std::size_t k = 0; k < bins.medians_.size(); ++k) {
    if (bins.encode(bins.medians_[k]) != static_cast<std::int32_t>(k)) {
      throw Error(where, "the tokenizer's median " + std::to_string(k) + " lies outside its bin");
    }
  }
  return bins;
}

}  // namespace thimble
