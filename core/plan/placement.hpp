#pragma once
/// Placement: buffers with lifetimes get offsets in one arena, so that no two live at the same step overlap
/// and the arena is as low as can be. Where the gap to the lower bound is 0 the placement is proven optimal.
///
/// One descent along the skyline, which puts what dies last at the bottom, meets the bound on training steps
/// whose weight gradients persist. Otherwise other preferences and a bounded search follow. Integers only, no
/// dependence on addresses: the result is the same everywhere, in constant evaluation and at run time.

#include "core/plan/placement_skyline.hpp"

namespace thimble {

/// Offsets of the first `count` buffers, relative to the start of the area, in bytes.
template <std::size_t N>
struct Placement {
  std::array<std::int64_t, N> offset = {};
  std::int64_t height_bytes = 0;
  std::int64_t lower_bound_bytes = 0;  ///< the most bytes live at one step

  constexpr std::int64_t gap_bytes() const { return height_bytes - lower_bound_bytes; }
};

/// Indices of two buffers that overlap in time and address, or none (both -1).
struct Overlap {
  int a = -1;
  int b = -1;

  constexpr bool none() const { return a < 0; }
  friend constexpr bool operator==(const Overlap&, const Overlap&) = default;
};

/// Checks offsets by comparing every pair of buffers, independently of how they were found.
template <std::size_t N>
constexpr Overlap first_overlap(const std::array<Interval, N>& buffers,
                                const std::array<std::int64_t, N>& offset, int count) {
  for (std::size_t i = 0; i < std::size_t(count); ++i) {
    for (std::size_t j = i + 1; j < std::size_t(count); ++j) {
      const bool in_time = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      if (!in_time || buffers[i].bytes == 0 || buffers[j].bytes == 0) continue;
      if (offset[i] < offset[j] + buffers[j].bytes && offset[j] < offset[i] + buffers[i].bytes) {
        return {int(i), int(j)};
      }
    }
  }
  return {};
}

/// Work after which the search for a lower placement ends: looks at a buffer or a step.
inline constexpr std::int64_t kPlacementWork = 300'000;

namespace detail {

template <std::size_t N>
class Placer {
 public:
  constexpr Placer(const std::array<Interval, N>& buffers, int count, std::int64_t work)
      : ranges_(live_ranges(buffers, count)), work_left_(work) {
    result_.lower_bound_bytes = max_live_bytes(ranges_);
    result_.height_bytes = kNoLimit;
    for (const Strategy& s : kStrategies) {
      if (result_.gap_bytes() > 0) attempt(s, kNoLimit, 0);
    }
    improve();
  }

  constexpr const Placement<N>& result() const { return result_; }

 private:
  struct Strategy {
    Preference preference;
    bool reversed;
  };
  static constexpr Strategy kStrategies[] = {{Preference::kLatestEnd, false},
                                             {Preference::kLatestEnd, true},
                                             {Preference::kLongest, false},
                                             {Preference::kLongest, true}};

  constexpr Verdict attempt(const Strategy& strategy, std::int64_t limit, std::int64_t work) {
    SkylineSearch<N> search(ranges_, strategy.preference, strategy.reversed);
    const Verdict verdict = search.run(limit, work);
    work_left_ -= search.work();
    if (verdict == Verdict::kFound && search.height_bytes() < result_.height_bytes) {
      result_.height_bytes = search.height_bytes();
      search.write_offsets(result_.offset);
    }
    return verdict;
  }

  constexpr Verdict attempt_all(std::int64_t limit, std::int64_t work_each) {
    for (const Strategy& s : kStrategies) {
      if (work_left_ <= 0) break;
      const Verdict verdict = attempt(s, limit, work_each < work_left_ ? work_each : work_left_);
      if (verdict != Verdict::kUndecided) return verdict;
    }
    return Verdict::kUndecided;
  }

  /// Tries limits between the proven bound and the best height, the bound itself first, then by halving;
  /// again with more work each until nothing is left undecided or all work is done.
  constexpr void improve() {
    const std::int64_t unit = ranges_.unit_bytes;
    std::int64_t proven = result_.lower_bound_bytes;
    for (std::int64_t share = 20'000; proven < result_.height_bytes && work_left_ > 0; share *= 4) {
      std::int64_t low = proven, limit = proven;
      while (low < result_.height_bytes && work_left_ > 0) {
        const Verdict verdict = attempt_all(limit, share);
        if (verdict != Verdict::kFound) low = limit + unit;
        if (verdict == Verdict::kImpossible) proven = low;
        limit = low + (result_.height_bytes - unit - low) / unit / 2 * unit;
      }
    }
  }

  LiveRanges<N> ranges_;
  Placement<N> result_;
  std::int64_t work_left_;
};

}  // namespace detail

/// Places the first `count` buffers; those of 0 bytes get offset 0. Stops at the lower bound, at a proven
/// optimum, or after `work` (see kPlacementWork). A buffer that dies before it is born or has negative size
/// is a THIMBLE_CHECK.
template <std::size_t N>
constexpr Placement<N> place(const std::array<Interval, N>& buffers, int count,
                             std::int64_t work = kPlacementWork) {
  return detail::Placer<N>(buffers, count, work).result();
}

}  // namespace thimble
