#pragma once
/// Buffers with lifetimes, and the most bytes that are live at once: no arena can be smaller.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"

namespace thimble {

/// A buffer that is live in steps first..last, both inclusive. `bytes` is a multiple of the arena's
/// alignment, or 0.
struct Interval {
  std::int32_t first;
  std::int32_t last;
  std::int64_t bytes;
};

namespace detail {

/// Sorts values[0..count) stably by `before`, a strict weak order. A merge sort: few comparisons in constant
/// evaluation.
template <std::size_t N, class Before>
constexpr void merge_sort(int (&values)[N], int count, Before before) {
  int spare[N] = {};
  for (int width = 1; width < count; width *= 2) {
    for (int begin = 0; begin < count; begin += 2 * width) {
      const int middle = begin + width < count ? begin + width : count;
      const int end = middle + width < count ? middle + width : count;
      int left = begin, right = middle;
      for (int to = begin; to < end; ++to) {
        const bool from_right = left == middle || (right < end && before(values[right], values[left]));
        spare[to] = from_right ? values[right++] : values[left++];
      }
    }
    for (int i = 0; i < count; ++i) values[i] = spare[i];
  }
}

/// The buffers that occupy memory, on a time axis that has only those steps at which one of them is born. Two
/// buffers that are ever live together are so at the birth of the later one, hence nothing is lost.
template <std::size_t N>
struct LiveRanges {
  int count = 0;
  int steps = 0;
  int buffer[N + 1] = {};  ///< index in the caller's list
  int first[N + 1] = {};
  int last[N + 1] = {};
  std::int64_t bytes[N + 1] = {};
  std::int64_t unit_bytes = 0;  ///< greatest common divisor of all sizes, 0 if there is none
};

constexpr std::int64_t greatest_common_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

template <std::size_t N>
constexpr LiveRanges<N> live_ranges(const std::array<Interval, N>& buffers, int count) {
  THIMBLE_CHECK(count >= 0 && std::size_t(count) <= N);
  LiveRanges<N> ranges;
  int by_birth[N + 1] = {};
  for (int i = 0; i < count; ++i) {
    const Interval& b = buffers[std::size_t(i)];
    THIMBLE_CHECK(b.first <= b.last && b.bytes >= 0);
    if (b.bytes == 0) continue;
    by_birth[ranges.count++] = i;
    ranges.unit_bytes = greatest_common_divisor(b.bytes, ranges.unit_bytes);
  }
  merge_sort(by_birth, ranges.count,
             [&](int a, int b) { return buffers[std::size_t(a)].first < buffers[std::size_t(b)].first; });

  std::int32_t births[N + 1] = {};
  for (int k = 0; k < ranges.count; ++k) {
    const Interval& b = buffers[std::size_t(by_birth[k])];
    if (ranges.steps == 0 || births[ranges.steps - 1] != b.first) births[ranges.steps++] = b.first;
    ranges.buffer[k] = by_birth[k];
    ranges.first[k] = ranges.steps - 1;
    ranges.bytes[k] = b.bytes;
  }
  for (int k = 0; k < ranges.count; ++k) {
    const std::int32_t last = buffers[std::size_t(ranges.buffer[k])].last;
    int low = ranges.first[k], high = ranges.steps;  // births[low] <= last < births[high]
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (births[middle] <= last ? low : high) = middle;
    }
    ranges.last[k] = low;
  }
  return ranges;
}

/// Bytes live at each step of the ranges' axis.
template <std::size_t N>
constexpr void live_bytes(const LiveRanges<N>& ranges, std::int64_t (&live)[N + 1]) {
  for (int s = 0; s <= ranges.steps; ++s) live[s] = 0;
  for (int k = 0; k < ranges.count; ++k) {
    live[ranges.first[k]] += ranges.bytes[k];
    live[ranges.last[k] + 1] -= ranges.bytes[k];
  }
  for (int s = 1; s < ranges.steps; ++s) live[s] += live[s - 1];
}

template <std::size_t N>
constexpr std::int64_t max_live_bytes(const LiveRanges<N>& ranges) {
  std::int64_t live[N + 1] = {};
  live_bytes(ranges, live);
  std::int64_t most = 0;
  for (int s = 0; s < ranges.steps; ++s) most = live[s] > most ? live[s] : most;
  return most;
}

}  // namespace detail

/// The most bytes that the first `count` buffers occupy at one step: a lower bound on the height of every
/// placement.
template <std::size_t N>
constexpr std::int64_t max_live_bytes(const std::array<Interval, N>& buffers, int count) {
  return detail::max_live_bytes(detail::live_ranges(buffers, count));
}

}  // namespace thimble
