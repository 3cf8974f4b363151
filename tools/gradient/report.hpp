#pragma once
/// The gradient on its way back: of every weight, and of every value that it passes.

#include "tools/model/session.hpp"

namespace thimble {

/// A tensor in double, with the name and shape that users see.
struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};

/// What one forward and backward pass found. Gradients are those of the mean loss over the valid targets (of the
/// result itself where the model ends in no loss).
struct GradientReport {
  double loss = 0;
  std::int64_t valid = 0;
  std::vector<double> loss_per_position;  ///< [B, T]; the result's numbers where it is no loss
  std::vector<NamedTensor> weights;       ///< gradients, by parameter name
  std::vector<NamedTensor> stops;         ///< gradients, by the name of the value
  std::vector<NamedTensor> values;        ///< the values themselves, where asked for
};

/// Which parts are wanted beside the weights' gradients.
struct ReportParts {
  bool stops = true;
  bool values = false;
};

/// Runs one batch. tokens and targets as for Engine::accumulate.
/// Values inside fused kernels (attention's scores and probabilities, the head's logits) are computed by the
/// reference formulas from what the kernels were given.
template <class real>
GradientReport report_gradients(Session<real>& session, std::span<const std::int32_t> tokens,
                                std::span<const std::int32_t> targets, const Extent& extent,
                                const ReportParts& parts = {});

/// influence[i][j]: the L2 norm of the gradient of position i's loss (row 0 of the batch) at the embedding of
/// position j. [T, T], zero above the diagonal: the future has no influence.
template <class real>
NamedTensor report_influence(Session<real>& session, std::span<const std::int32_t> tokens,
                             std::span<const std::int32_t> targets, const Extent& extent);

}  // namespace thimble
