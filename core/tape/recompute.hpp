#pragma once
/// Recompute schedules: which activations are kept from forward to backward. What is not kept is computed again,
/// by the same kernels from the same operands, so the schedule never changes a bit of the result.

#include <string_view>

#include "core/tape/builder.hpp"

namespace thimble {

/// Per value: is its output (and what its op saved) kept until backward needs it?
template <int N>
struct Recompute {
  std::array<bool, std::size_t(N)> keep = {};
};

template <int N>
constexpr Recompute<N> keep_all(const Tape<N>&) {
  Recompute<N> r;
  r.keep.fill(true);
  return r;
}

/// Keeps the input of every block and all that lies outside the blocks.
template <int N>
constexpr Recompute<N> keep_block_inputs(const Tape<N>& tape) {
  Recompute<N> r;
  for (int i = 0; i < N; ++i) {
    r.keep[std::size_t(i)] = tape[i].is_leaf() || tape[i].boundary || tape[i].segment < 0;
  }
  return r;
}

/// Keeps all but what is computed element by element (GELU, ReLU, tanh), which costs little to compute again.
template <int N>
constexpr Recompute<N> keep_all_but_elements(const Tape<N>& tape) {
  Recompute<N> r;
  for (int i = 0; i < N; ++i) r.keep[std::size_t(i)] = tape[i].reverse != Reverse::in_place;
  return r;
}

/// Does `name` match `pattern`, in which '*' stands for any characters?
constexpr bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  }
  return !name.empty() && name.front() == pattern.front() && matches(pattern.substr(1), name.substr(1));
}

/// The schedule that a text asks for: "none" (keep_all), "elements" (keep_all_but_elements), "blocks" (keep_block_inputs), or
/// the names and patterns of the values to keep, separated by commas. Calls `unknown` with a pattern that names nothing,
/// as an empty text does.
template <int N, class Unknown>
constexpr Recompute<N> schedule_of(const Tape<N>& tape, std::string_view text, Unknown unknown) {
  if (text == "none") return keep_all(tape);
  if (text == "elements") return keep_all_but_elements(tape);
  if (text == "blocks") return keep_block_inputs(tape);
  Recompute<N> r;
  for (int i = 0; i < N; ++i) r.keep[std::size_t(i)] = tape[i].is_leaf();
  do {
    const std::string_view pattern = text.substr(0, text.find(','));
    text.remove_prefix(pattern.size() < text.size() ? pattern.size() + 1 : text.size());
    bool found = false;
    for (int i = 0; i < N; ++i) {
      const bool named = !tape[i].is_leaf() && matches(pattern, tape[i].name.view());
      r.keep[std::size_t(i)] = r.keep[std::size_t(i)] || named;
      found = found || named;
    }
    if (!found) unknown(pattern);
  } while (!text.empty());
  return r;
}

/// The text as a template argument.
struct RecomputeText {
  static constexpr int kCapacity = 127;  // a longer text does not compile
  char text[kCapacity + 1] = {};
  constexpr RecomputeText(const char* words) {
    for (int i = 0; words[i] != 0; ++i) text[i] = words[i];
  }
  constexpr std::string_view view() const { return text; }
};

/// The same, where a pattern that names nothing does not compile.
template <int N>
constexpr Recompute<N> schedule_of(const Tape<N>& tape, const RecomputeText& text) {
  return schedule_of(tape, text.view(), [](std::string_view) {
    require(false, "recompute: no activation has one of the names to keep");
  });
}

}  // namespace thimble
