#pragma once
/// Search for a placement below a given height; placement.hpp calls it.
///
/// The skyline is the top of what is placed already, step by step. Work goes on in one of its valleys: a
/// stretch of equal height between higher neighbours. Either a buffer whose whole life lies within the valley
/// goes onto its floor, or the valley is filled up to its lower neighbour, which wastes that space. Every
/// placement in which no buffer can sink arises from such moves, so the search is complete. It turns back
/// where waste and unplaced buffers exceed the limit at some step, where an unplaced buffer would fit into
/// the waste, and where only the order of moves would differ.
/// Source of the skyline and the last two rules: M. D. Moffitt, "MiniMalloc", ASPLOS 2023.

#include "core/plan/placement_interval.hpp"

namespace thimble::detail {

/// Which buffer to try first among those that fit into a valley.
enum class Preference { kLatestEnd, kLongest };

enum class Verdict { kFound, kImpossible, kUndecided };

inline constexpr std::int64_t kNoLimit = std::int64_t{1} << 62;

/// At run time an object takes about 180 N bytes of stack.
template <std::size_t N>
class SkylineSearch {
 public:
  /// With `reversed`, time runs backwards: kLatestEnd then prefers the earliest birth.
  constexpr SkylineSearch(const LiveRanges<N>& ranges, Preference preference, bool reversed)
      : count_(ranges.count), steps_(ranges.steps) {
    int order[N + 1] = {};
    for (int k = 0; k < count_; ++k) order[k] = k;
    const int newest = steps_ - 1;
    const auto begin = [&](int k) { return reversed ? newest - ranges.last[k] : ranges.first[k]; };
    const auto end = [&](int k) { return reversed ? newest - ranges.first[k] : ranges.last[k]; };
    merge_sort(order, count_, [&](int a, int b) {
      if (end(a) != end(b)) return end(a) > end(b);
      if (begin(a) != begin(b)) return begin(a) < begin(b);
      return ranges.bytes[a] > ranges.bytes[b];
    });
    for (int k = 0; k < count_; ++k) {
      const int from = order[k];
      first_[k] = begin(from);
      last_[k] = end(from);
      bytes_[k] = ranges.bytes[from];
      buffer_[k] = ranges.buffer[from];
    }
    index_by_end();
    rank(preference);
    live_bytes(ranges, unplaced_);
    if (reversed) {
      for (int s = 0; s < newest - s; ++s) {
        const std::int64_t bytes = unplaced_[s];
        unplaced_[s] = unplaced_[newest - s];
        unplaced_[newest - s] = bytes;
      }
    }
  }

  /// Looks for a placement of at most `limit_bytes`. Without a limit the first descent is taken, whatever its
  /// height. Gives up (kUndecided) once more than `work_limit` units of work are done: looks at a buffer or a
  /// step.
  constexpr Verdict run(std::int64_t limit_bytes, std::int64_t work_limit) {
    limit_ = limit_bytes;
    for (int s = 0; s < steps_; ++s) {
      if (unplaced_[s] > limit_) return Verdict::kImpossible;
    }
    int placed = 0;
    bool backtracking = false;
    while (placed < count_) {
      int buffer = -1;
      if (backtracking) {
        if (depth_ == 0) return Verdict::kImpossible;
        if (work_ > work_limit) return Verdict::kUndecided;
        const int undone = undo();
        if (undone < 0) continue;
        --placed;
        buffer = candidate(undone);
      } else {
        descend();
        backtracking = !fillable();
        if (backtracking) continue;
        buffer = candidate(-1);
      }
      backtracking = false;
      if (buffer >= 0) {
        put(buffer);
        ++placed;
      } else {
        backtracking = !fill();
      }
    }
    return Verdict::kFound;
  }

  constexpr std::int64_t height_bytes() const {
    std::int64_t height = 0;
    for (int k = 0; k < count_; ++k) {
      if (offset_[k] + bytes_[k] > height) height = offset_[k] + bytes_[k];
    }
    return height;
  }
  constexpr void write_offsets(std::array<std::int64_t, N>& offset) const {
    for (int k = 0; k < count_; ++k) offset[std::size_t(buffer_[k])] = offset_[k];
  }
  constexpr std::int64_t work() const { return work_; }

 private:
  /// One move and what is needed to take it back: the valley begin..end at `floor`, and the far ends of the
  /// segments with which it merged (-1: no merge on that side). `buffer` is -1 where the valley was filled.
  struct Move {
    std::int64_t floor;
    int begin, end, merged_begin, merged_end, barrier, buffer;
  };

  constexpr void index_by_end() {
    int k = 0;
    for (int s = steps_ - 1; s >= 0; --s) {
      while (k < count_ && last_[k] > s) ++k;
      from_end_[s] = k;
    }
    for (k = 0; k <= count_; ++k) {
      next_[k] = k < count_ ? k + 1 : 0;
      previous_[k] = k > 0 ? k - 1 : count_;
    }
    if (steps_ > 0) {
      end_of_[0] = steps_ - 1;
      begin_of_[steps_ - 1] = 0;
      barrier_[0] = -1;
    }
  }

  constexpr void rank(Preference preference) {
    in_order_ = preference == Preference::kLatestEnd;
    int order[N + 1] = {};
    for (int k = 0; k < count_; ++k) order[k] = k;
    if (preference == Preference::kLongest) {
      merge_sort(order, count_, [&](int a, int b) { return last_[a] - first_[a] > last_[b] - first_[b]; });
    }
    for (int r = 0; r < count_; ++r) rank_[order[r]] = r;
  }

  /// From the cursor down to the floor of a valley.
  constexpr void descend() {
    while (true) {
      const int left = cursor_ > 0 ? begin_of_[cursor_ - 1] : cursor_;
      const int end = end_of_[cursor_];
      if (floor_[left] < floor_[cursor_]) {
        cursor_ = left;
      } else if (end + 1 < steps_ && floor_[end + 1] < floor_[cursor_]) {
        cursor_ = end + 1;
      } else {
        return;
      }
      ++work_;
    }
  }

  /// Height of the valley's lower neighbour; kNoLimit if the valley spans all steps.
  constexpr std::int64_t wall() const {
    const int end = end_of_[cursor_];
    std::int64_t height = kNoLimit;
    if (cursor_ > 0) height = floor_[begin_of_[cursor_ - 1]];
    if (end + 1 < steps_ && floor_[end + 1] < height) height = floor_[end + 1];
    return height;
  }

  constexpr int first_unplaced(int end) {
    int k = from_end_[end];
    if (k < next_[count_]) k = next_[count_];
    while (k < count_ && placed_[k]) {
      k = next_[k];  // as it was when k was placed: no unplaced buffer lies between
      ++work_;
    }
    return k;
  }

  /// The most preferred buffer that fits into the valley, among those less preferred than `after` (-1: all)
  /// and not its twin; -1 if there is none. Buffers on one floor commute: the barrier admits one order only.
  constexpr int candidate(int after) {
    const int begin = cursor_;
    const int above = after < 0 ? barrier_[begin] : rank_[after];
    int best = -1;
    for (int k = first_unplaced(end_of_[begin]); k < count_ && last_[k] >= begin; k = next_[k]) {
      ++work_;
      if (first_[k] < begin || rank_[k] <= above || (best >= 0 && rank_[k] > rank_[best])) continue;
      if (after >= 0 && first_[k] == first_[after] && last_[k] == last_[after] &&
          bytes_[k] == bytes_[after]) {
        continue;
      }
      best = k;
      if (in_order_) break;
    }
    return best;
  }

  /// False if the valley's own buffers cannot fill it well enough for the limit to hold.
  constexpr bool fillable() {
    const std::int64_t top = wall();
    if (limit_ == kNoLimit || top == kNoLimit) return true;
    const int begin = cursor_, end = end_of_[begin];
    std::int64_t most_unplaced = 0;
    for (int s = begin; s <= end; ++s)
      most_unplaced = unplaced_[s] > most_unplaced ? unplaced_[s] : most_unplaced;
    work_ += end - begin + 1;
    if (top + most_unplaced <= limit_) return true;
    for (int s = begin; s <= end + 1; ++s) inside_[s] = 0;
    for (int k = first_unplaced(end); k < count_ && last_[k] >= begin; k = next_[k]) {
      ++work_;
      if (first_[k] < begin) continue;
      inside_[first_[k]] += bytes_[k];
      inside_[last_[k] + 1] -= bytes_[k];
    }
    work_ += end - begin + 1;
    std::int64_t inside = 0;
    for (int s = begin; s <= end; ++s) {
      inside += inside_[s];
      if (top + unplaced_[s] - inside > limit_) return false;
    }
    return true;
  }

  /// Fills the valley up to its lower neighbour, if the limit allows that and no buffer would fit into the
  /// waste.
  constexpr bool fill() {
    const std::int64_t top = wall();
    const int begin = cursor_, end = end_of_[begin];
    if (top == kNoLimit) return false;
    if (limit_ != kNoLimit) {
      for (int s = begin; s <= end; ++s) {
        ++work_;
        if (top + unplaced_[s] > limit_) return false;
      }
      for (int k = first_unplaced(end); k < count_ && last_[k] >= begin; k = next_[k]) {
        ++work_;
        if (first_[k] >= begin && bytes_[k] <= top - floor_[begin]) return false;
      }
    }
    raise(begin, end, top, -1);
    return true;
  }

  constexpr void put(int k) {
    offset_[k] = floor_[cursor_];
    placed_[k] = true;
    next_[previous_[k]] = next_[k];
    previous_[next_[k]] = previous_[k];
    count_unplaced(k, -bytes_[k]);
    raise(first_[k], last_[k], offset_[k] + bytes_[k], k);
  }

  constexpr void count_unplaced(int k, std::int64_t bytes) {
    if (limit_ == kNoLimit) return;
    for (int s = first_[k]; s <= last_[k]; ++s) unplaced_[s] += bytes;
    work_ += last_[k] - first_[k] + 1;
  }

  constexpr void set_segment(int begin, int end, std::int64_t floor, int barrier) {
    end_of_[begin] = end;
    begin_of_[end] = begin;
    floor_[begin] = floor;
    barrier_[begin] = barrier;
  }

  /// Raises steps first..last of the valley to `top`, and merges them with a neighbour of that height.
  constexpr void raise(int first, int last, std::int64_t top, int buffer) {
    const int begin = cursor_, end = end_of_[begin];
    Move move{floor_[begin], begin, end, -1, -1, barrier_[begin], buffer};
    const int barrier = buffer < 0 ? -1 : rank_[buffer];
    if (last < end) set_segment(last + 1, end, move.floor, barrier);
    if (begin < first) set_segment(begin, first - 1, move.floor, barrier);
    int merged_first = first, merged_last = last;
    if (first == begin && begin > 0 && floor_[begin_of_[begin - 1]] == top) {
      merged_first = move.merged_begin = begin_of_[begin - 1];
    }
    if (last == end && end + 1 < steps_ && floor_[end + 1] == top) {
      merged_last = move.merged_end = end_of_[end + 1];
    }
    set_segment(merged_first, merged_last, top, -1);
    cursor_ = last < end ? last + 1 : begin < first ? begin : merged_first;
    moves_[depth_++] = move;
  }

  /// Takes the last move back and returns its buffer, or -1.
  constexpr int undo() {
    const Move move = moves_[--depth_];
    const int k = move.buffer;
    std::int64_t top = 0;
    if (k >= 0) {
      placed_[k] = false;
      next_[previous_[k]] = k;
      previous_[next_[k]] = k;
      count_unplaced(k, bytes_[k]);
      top = offset_[k] + bytes_[k];
    } else {
      top = floor_[move.merged_begin >= 0 ? move.merged_begin : move.begin];
    }
    if (move.merged_begin >= 0) set_segment(move.merged_begin, move.begin - 1, top, -1);
    if (move.merged_end >= 0) set_segment(move.end + 1, move.merged_end, top, -1);
    set_segment(move.begin, move.end, move.floor, move.barrier);
    cursor_ = move.begin;
    return k;
  }

  int count_;
  int steps_;
  bool in_order_ = true;  ///< rank is the index itself
  std::int64_t limit_ = kNoLimit;
  std::int64_t work_ = 0;

  // Buffers, latest end first; those not yet placed form a ring through index count_.
  int first_[N + 1] = {};
  int last_[N + 1] = {};
  std::int64_t bytes_[N + 1] = {};
  std::int64_t offset_[N + 1] = {};
  int buffer_[N + 1] = {};
  int rank_[N + 1] = {};
  bool placed_[N + 1] = {};
  int next_[N + 1] = {};
  int previous_[N + 1] = {};

  // Steps. A segment of the skyline has its height, end and barrier at its first step, its begin at its last
  // one.
  int from_end_[N + 1] = {};  ///< first buffer that ends here or earlier
  std::int64_t unplaced_[N + 1] = {};
  std::int64_t inside_[N + 1] = {};
  std::int64_t floor_[N + 1] = {};
  int end_of_[N + 1] = {};
  int begin_of_[N + 1] = {};
  int barrier_[N + 1] = {};
  int cursor_ = 0;

  Move moves_[3 * N + 1] = {};  ///< a buffer each, and at most two fillings for the segments that it leaves
  int depth_ = 0;
};

}  // namespace thimble::detail
