#pragma once
/// Lifetimes of the buffers of one training step of a pre-norm transformer, made from shapes alone: forward,
/// optional recompute of each block, backward. A stand-in for the real plan, so that placement is tested
/// without it.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/plan/placement.hpp"

namespace thimble {

/// What to trace. Shapes: B batch, T time, C width, H heads, V vocabulary, L blocks.
struct TraceConfig {
  int blocks = 2;
  std::int64_t batch = 1, time = 64, width = 64, heads = 4, vocabulary = 96;
  bool keep_block_inputs = false;  ///< blocks are run again before their backward
  bool last_block_kept = false;    ///< with keep_block_inputs: except the last block, which comes next anyway
  bool logits_kept = true;         ///< B x T x V logits and their gradient, or row tiles of 32 in scratch
  bool attention_probabilities = false;  ///< keep B x H x T x T, or only two statistics a row
  bool residual_gradient_copied =
      false;  ///< both operands of an add own a gradient, or share that of the sum
  bool weight_gradient_in_step =
      false;  ///< the optimizer runs inside the backward step (one-step weight gradient)
  bool weight_gradients_in_arena =
      false;  ///< weight gradients live from their backward step to the last step
  std::int64_t real_bytes = 4;
};

/// The buffers of a trace, in order of birth.
struct Trace {
  static constexpr std::size_t kCapacity = 1536;
  std::array<Interval, kCapacity> buffers{};
  int count = 0;
  int steps = 0;
};

namespace detail {

class Tracer {
 public:
  constexpr explicit Tracer(const TraceConfig& config) : config_(config) { build_tape(); }

  constexpr Trace run() {
    for (int op = 0; op < ops_; ++op) forward(op);
    for (int op = ops_ - 1; op >= 0; --op) {
      const int segment = tape_[op].segment;
      const bool ends_segment = op + 1 < ops_ && tape_[op + 1].segment != segment;
      const bool again = segment > 0 && !(config_.last_block_kept && segment == config_.blocks);
      if (config_.keep_block_inputs && ends_segment && again) recompute(segment);
      backward(op);
    }
    for (int i = 0; i < trace_.count; ++i)
      if (trace_.buffers[i].last == kToTheEnd) trace_.buffers[i].last = trace_.steps - 1;
    return trace_;
  }

 private:
  static constexpr int kMaxOps = 640;
  static constexpr std::int32_t kToTheEnd = 1 << 30;

  struct Op {
    std::int64_t bytes = 0, saved_bytes = 0, scratch_bytes = 0, weight_bytes = 0;
    int left = -1, right = -1;
    bool needs_operand = false, needs_result = false, is_add = false;
    int segment = 0;
  };

  constexpr int append(Op op) {
    op.segment = segment_;
    tape_[ops_] = op;
    return ops_++;
  }
  constexpr int norm(int x, std::int64_t rows) {
    return append({.bytes = rows * config_.width * config_.real_bytes,
                   .saved_bytes = rows * 2 * config_.real_bytes,
                   .weight_bytes = 2 * config_.width * config_.real_bytes,
                   .left = x,
                   .needs_operand = true});
  }
  constexpr int linear(int x, std::int64_t rows, std::int64_t in, std::int64_t out) {
    return append({.bytes = rows * out * config_.real_bytes,
                   .weight_bytes = (in + 1) * out * config_.real_bytes,
                   .left = x,
                   .needs_operand = true});
  }
  constexpr int add(int x, int y) {
    return append({.bytes = tape_[x].bytes, .left = x, .right = y, .is_add = true});
  }

  constexpr void build_tape() {
    const std::int64_t rows = config_.batch * config_.time, width = config_.width;
    const std::int64_t real = config_.real_bytes;
    int x = append({.bytes = rows * width * real, .weight_bytes = config_.vocabulary * width * real});
    x = append({.bytes = rows * width * real, .weight_bytes = config_.time * width * real, .left = x});
    for (int block = 0; block < config_.blocks; ++block) {
      segment_ = block + 1;
      const int qkv = linear(norm(x, rows), rows, width, 3 * width);
      const std::int64_t per_row = config_.attention_probabilities ? config_.time : 2;
      const int attention = append({.bytes = rows * width * real,
                                    .saved_bytes = rows * config_.heads * per_row * real,
                                    .scratch_bytes = config_.heads * config_.time * real,
                                    .left = qkv,
                                    .needs_operand = true,
                                    .needs_result = true});
      const int middle = add(x, linear(attention, rows, width, width));
      const int pre = linear(norm(middle, rows), rows, width, 4 * width);
      const int act = append({.bytes = rows * 4 * width * real, .left = pre, .needs_operand = true});
      x = add(middle, linear(act, rows, 4 * width, width));
    }
    ++segment_;
    x = norm(x, rows);
    if (config_.logits_kept) {
      x = linear(x, rows, width, config_.vocabulary);
      append({.bytes = real, .saved_bytes = rows * real, .left = x, .needs_operand = true});
    } else {
      append({.bytes = real,
              .saved_bytes = 2 * rows * real,
              .scratch_bytes = 32 * config_.vocabulary * real,
              .weight_bytes = config_.vocabulary * width * real,
              .left = x,
              .needs_operand = true});
    }
  }

  constexpr int born(std::int64_t bytes) {
    trace_.buffers[trace_.count] = {trace_.steps, trace_.steps, (bytes + 63) / 64 * 64};
    return trace_.count++;
  }
  constexpr void touch(int buffer) {
    if (buffer >= 0 && trace_.buffers[buffer].last < trace_.steps) trace_.buffers[buffer].last = trace_.steps;
  }

  constexpr void forward(int op) {
    const Op& o = tape_[op];
    if (o.left >= 0) touch(value_[o.left]);
    if (o.right >= 0) touch(value_[o.right]);
    value_[op] = born(o.bytes);
    saved_[op] = o.saved_bytes > 0 ? born(o.saved_bytes) : -1;
    if (o.scratch_bytes > 0) born(o.scratch_bytes);
    ++trace_.steps;
  }

  /// Runs again those ops of a segment whose results a backward step, or another op run again, reads.
  constexpr void recompute(int segment) {
    int begin = 0;
    while (tape_[begin].segment != segment) ++begin;
    int end = begin;
    while (tape_[end].segment == segment) ++end;
    std::array<bool, kMaxOps> wanted{};
    for (int op = end - 1; op >= begin; --op) {
      const Op& o = tape_[op];
      if (o.needs_result || o.saved_bytes > 0) wanted[op] = true;
      if (o.left >= 0 && (o.needs_operand || wanted[op])) wanted[o.left] = true;
      if (o.right >= 0 && wanted[op]) wanted[o.right] = true;
    }
    for (int op = begin; op < end; ++op)
      if (wanted[op]) forward(op);
  }

  constexpr void give_gradient(int value) {
    if (gradient_[value] < 0) gradient_[value] = born(tape_[value].bytes);
    touch(gradient_[value]);
  }

  constexpr void backward(int op) {
    const Op& o = tape_[op];
    touch(gradient_[op]);
    if (o.needs_operand) touch(value_[o.left]);
    if (o.needs_result) touch(value_[op]);
    if (saved_[op] >= 0) touch(saved_[op]);
    if (o.is_add && !config_.residual_gradient_copied) {
      gradient_[o.left] = gradient_[o.right] = gradient_[op];
    } else {
      if (o.left >= 0) give_gradient(o.left);
      if (o.right >= 0) give_gradient(o.right);
    }
    if (o.scratch_bytes > 0) born(o.scratch_bytes);
    if (o.weight_bytes > 0 && (config_.weight_gradient_in_step || config_.weight_gradients_in_arena)) {
      const int buffer = born(o.weight_bytes);
      if (config_.weight_gradients_in_arena) trace_.buffers[buffer].last = kToTheEnd;
    }
    ++trace_.steps;
  }

  TraceConfig config_;
  Trace trace_{};
  std::array<Op, kMaxOps> tape_{};
  std::array<int, kMaxOps> value_{}, saved_{};
  std::array<int, kMaxOps> gradient_ = [] {
    std::array<int, kMaxOps> none{};
    for (int& g : none) g = -1;
    return none;
  }();
  int ops_ = 0;
  int segment_ = 0;
};

}  // namespace detail

/// The buffers of one training step under `config`.
constexpr Trace trace_training_step(const TraceConfig& config) {
  return detail::Tracer(config).run();
}

}  // namespace thimble
