#pragma once
/// A plan as JSON, and its picture.

#include <nlohmann/json.hpp>

#include "tools/plan_view/costs.hpp"

namespace thimble {

/// Regions, sizes, gap to the lower bound, costs; with `tensors` also every tensor and step.
nlohmann::ordered_json plan_json(const Model& model, const PlanData& plan, bool tensors);

/// Most bytes that a checkpoint of such a run takes, a window under way included and notes (a tokenizer) left out.
std::int64_t checkpoint_bytes(const Model& model, const PlanData& plan);

/// The arena as an SVG picture: time (steps) across, address up, one rectangle a tensor.
std::string plan_svg(const Model& model, const PlanData& plan);

/// "h.0.ln_1 gradient", "workspace of h.0.attn".
std::string tensor_label(const Model& model, const Tensor& tensor);

}  // namespace thimble
