#pragma once
/// The learning rate of every optimizer step. Steps count from 0; a rate depends on its step alone, so a
/// resumed run continues exactly and nothing is ever advanced twice.
///
///   warm-up (step < warmup): peak (step + 1) / warmup
///   constant:                peak
///   linear:                  floor + (peak - floor) (1 - p), where p = (step - warmup) / (total - warmup)
///   cosine:                  floor + (peak - floor) (1 + cos(pi p)) / 2, with the same p
///   wsd:                     peak, then linear to the floor over the last decay_steps
/// From step `total` on all but `constant` stay at the floor.

#include <cstdint>

#include "core/base/scalar_math.hpp"

namespace thimble {

enum class ScheduleKind : std::uint8_t { constant, linear, cosine, wsd };

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double peak = 1e-3;
  double floor = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;  ///< with the warm-up; unused by `constant`
  std::int64_t decay_steps = 0;  ///< wsd alone
};

/// What is wrong with a schedule, in words, or null.
constexpr const char* fault_of(const Schedule& s) {
  const auto usable = [](double x) { return x >= 0 && x - x == 0; };
  if (!usable(s.peak)) return "the learning rate must be finite and not negative";
  if (!usable(s.floor)) return "the lowest learning rate must be finite and not negative";
  if (s.floor > s.peak) return "the lowest learning rate exceeds the learning rate";
  if (s.warmup_steps < 0) return "the number of warm-up steps is negative";
  if (s.kind == ScheduleKind::constant) return nullptr;
  if (s.total_steps < 1) return "a schedule that decays needs the total number of steps";
  if (s.warmup_steps > s.total_steps) return "the warm-up is longer than the whole run";
  if (s.kind != ScheduleKind::wsd) return nullptr;
  if (s.decay_steps < 0) return "the number of decay steps is negative";
  if (s.decay_steps > s.total_steps - s.warmup_steps)
    return "warm-up and decay are longer than the whole run";
  return nullptr;
}

/// The rate of step 0, 1, 2 ... of a schedule without fault.
constexpr double learning_rate(const Schedule& s, std::int64_t step) {
  using enum ScheduleKind;
  if (step < s.warmup_steps) return s.peak * double(step + 1) / double(s.warmup_steps);
  if (s.kind == constant) return s.peak;
  if (step >= s.total_steps) return s.floor;
  const std::int64_t begin = s.kind == wsd ? s.total_steps - s.decay_steps : s.warmup_steps;
  if (step < begin) return s.peak;
  const double part = double(step - begin) / double(s.total_steps - begin);
  if (s.kind == cosine) {
    constexpr double pi = 3.14159265358979323846;
    return s.floor + 0.5 * (s.peak - s.floor) * (1 + scalar_cos(pi * part));
  }
  return s.floor + (s.peak - s.floor) * (1 - part);
}

/// GPT-3 (Brown et al., 2020): warm-up over 375 million tokens, cosine to a tenth until 260 billion, then
/// level to 300 billion. A run of fewer tokens gets the same shape in proportion.
constexpr Schedule gpt3_schedule(double total_tokens, double tokens_per_step, double peak) {
  const double steps = total_tokens / tokens_per_step;
  return {ScheduleKind::cosine, peak, peak / 10, std::int64_t(steps * (375e6 / 300e9) + 0.5),
          std::int64_t(steps * (260e9 / 300e9) + 0.5)};
}

/// Llama 3 405B (Grattafiori et al., 2024): 8,000 steps to 8e-5, cosine to 8e-7 at step 1,200,000. A run of
/// fewer steps gets the same shape in proportion.
constexpr Schedule llama3_405b_schedule(std::int64_t total_steps = 1'200'000) {
  return {ScheduleKind::cosine, 8e-5, 8e-7, total_steps / 150, total_steps};
}

}  // namespace thimble
