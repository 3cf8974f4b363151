#pragma once
/// What a step costs, counted on the tape: floating-point operations and bytes.

#include "tools/model/model.hpp"

namespace thimble {

/// Of one direction. A multiply-add counts as two operations; bytes are those of the tensors that kernels read or
/// write, each counted once a step.
struct Cost {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
};

struct PlanCosts {
  Cost forward;
  Cost backward;
  Cost recompute;
  Cost total() const {
    return {forward.flops + backward.flops + recompute.flops, forward.bytes + backward.bytes + recompute.bytes};
  }
};

PlanCosts count_costs(const Model& model, const PlanData& plan);

}  // namespace thimble
