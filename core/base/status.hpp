#pragma once
/// What can go wrong at run time in the core. Shapes and budgets fail at compile time instead.

#include <cstdint>

namespace thimble {

enum class [[nodiscard]] Status : std::uint8_t {
  ok,
  non_finite_loss,      ///< The loss is NaN or infinite; the update was not applied.
  non_finite_gradient,  ///< The gradient's norm is NaN or infinite; the update was not applied.
  torn_update,          ///< The same, found within the backward pass: some weights had been updated already.
  needs_gradients,      ///< Clipping and windows of several micro-batches need gradients that outlive the pass.
  token_out_of_range,   ///< An input id is not in 0..V-1, or a target id is neither there nor -1.
  extent_out_of_range,  ///< More rows or a longer sequence than the plan has room for, or none at all.
  context_full,         ///< Generation has reached the model's longest sequence.
};

/// A short English text for a status.
constexpr const char* text_of(Status s) {
  switch (s) {
    case Status::ok: return "ok";
    case Status::non_finite_loss: return "the loss is not finite";
    case Status::non_finite_gradient: return "the gradient is not finite";
    case Status::torn_update: return "the gradient is not finite, and some weights were updated before that was seen";
    case Status::needs_gradients:
      return "clipping and several micro-batches a step need gradients that this plan does not keep";
    case Status::token_out_of_range: return "a token id is out of range";
    case Status::extent_out_of_range: return "batch or context exceeds what the plan has room for";
    case Status::context_full: return "the context is full";
  }
  return "unknown status";
}

}  // namespace thimble
