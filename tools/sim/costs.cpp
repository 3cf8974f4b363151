#include "tools/sim/costs.hpp"

#include <nlohmann/json.hpp>

#include "tools/board/board_info.hpp"
#include "tools/sim/measured_costs.hpp"

namespace thimble {

OpCosts OpCosts::of_board(const std::string& board) {
  static const nlohmann::json all = nlohmann::json::parse(kMeasuredCosts);
  const char* const like = find_board(board).profile == Profile::fused ? "mps2-an386" : "mps2-an385";
  OpCosts c;
  for (const auto& [op, cost] : all.at(all.contains(board) ? board : like).items()) {
    c.costs_[Name(op.c_str()).hash] = {cost.at(0).get<double>(), cost.at(1).get<double>()};
  }
  return c;
}

std::uint64_t OpCosts::instructions(const Value& value, StepKind kind, const Extent& extent) const {
  if (value.is_leaf()) return 0;  // an update within the backward pass
  const auto found = costs_.find(value.op);
  const Cost cost = found == costs_.end() ? Cost{} : found->second;
  const Flops f = op_flops(value, extent);
  const double each = kind == StepKind::backward ? cost.backward : cost.forward;
  return std::uint64_t(double(kind == StepKind::backward ? f.backward : f.forward) / 2 * each);
}

std::uint64_t OpCosts::instructions_of_step(TapeView tape, const Extent& extent) const {
  std::uint64_t sum = 0;
  for (int i = 0; i < tape.size; ++i) {
    sum += instructions(tape[i], StepKind::forward, extent) + instructions(tape[i], StepKind::backward, extent);
  }
  return sum;
}

}  // namespace thimble
