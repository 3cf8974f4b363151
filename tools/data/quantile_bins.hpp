// Numbers as tokens: equally filled bins between quantiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// Bins whose edges are quantiles of a sample, so that each token occurs about equally often. Bin k holds
/// edge[k - 1] <= x < edge[k]; the first and the last are open to their side, so every finite number has a
/// token. Equal values never straddle an edge: where one value is so frequent that quantiles coincide there
/// are fewer bins than asked for.
class QuantileBins {
 public:
  /// Fits at most `bins` (at least 2) bins to the values; give the train part alone where a part is held out.
  /// `Error` at `where` for no values, values that are not finite, and a constant column.
  static QuantileBins fit(std::span<const double> values, std::size_t bins, const std::string& where);

  /// Reads what `to_json` wrote.
  static QuantileBins from_json(std::string_view text, const std::string& where);

  /// {"type":"quantiles","edges":[...],"medians":[...]}: every double comes back to the bit.
  std::string to_json() const;

  std::size_t bin_count() const { return medians_.size(); }
  const std::vector<double>& edges() const { return edges_; }

  /// Token of a finite number.
  std::int32_t encode(double value) const;
  std::vector<std::int32_t> encode(std::span<const double> values) const;

  /// Median of the fitted values in that bin; it encodes to the same token again.
  double decode(std::int32_t token) const;

 private:
  std::vector<double> edges_;    // ascending, one less than bins
  std::vector<double> medians_;  // each inside its bin
};

}  // namespace thimble
