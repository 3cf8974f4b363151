#pragma once
/// A plan without its template parameter, for the views that print it.

#include <algorithm>
#include <string>
#include <vector>

#include "core/train/layout.hpp"

namespace thimble {

/// Which of a model's three programs.
enum class ProgramKind { train, evaluate, decode };

struct PlanData {
  PlanOptions options;
  std::vector<Step> steps;
  std::vector<StepTensors> step_tensors;
  std::vector<Tensor> tensors;
  int backward_begin = 0;
  std::int64_t weights_end = 0;
  std::int64_t moments_end = 0;
  std::int64_t gradients_end = 0;
  std::int64_t persistent_end = 0;
  std::int64_t transient_bytes = 0;
  std::int64_t transient_lower_bound = 0;
  RegionUse region[2];

  std::int64_t bytes() const { return persistent_end + transient_bytes; }
  std::int64_t gap_bytes() const { return transient_bytes - transient_lower_bound; }
};

template <int N>
PlanData plan_data(const Plan<N>& p, const PlanOptions& options) {
  PlanData d;
  d.options = options;
  d.steps.assign(p.walk.steps.begin(), p.walk.steps.begin() + p.walk.count);
  d.step_tensors.assign(p.step_tensors.begin(), p.step_tensors.begin() + p.walk.count);
  d.tensors.assign(p.tensors.begin(), p.tensors.begin() + p.tensor_count);
  d.backward_begin = p.walk.backward_begin;
  d.weights_end = p.weights_end;
  d.moments_end = p.moments_end;
  d.gradients_end = p.gradients_end;
  d.persistent_end = p.persistent_end;
  d.transient_bytes = p.transient_bytes;
  d.transient_lower_bound = p.transient_lower_bound;
  std::copy(std::begin(p.region), std::end(p.region), d.region);
  return d;
}

}  // namespace thimble
