#pragma once
/// What a multiply-add of each op costs on a board, instructions: the simulation's clock. Measured on the emulated boards
/// (tools/sim/measure_costs.py writes costs.json).

#include <map>
#include <string>

#include "core/ops/list.hpp"

namespace thimble {

class OpCosts {
 public:
  /// The measured costs of a board; of a board that has not been measured, those of one with its arithmetic.
  static OpCosts of_board(const std::string& board);

  /// Instructions of one step of a model's program.
  std::uint64_t instructions(const Value& value, StepKind kind, const Extent& extent) const;
  /// Of one whole training step, without the update.
  std::uint64_t instructions_of_step(TapeView tape, const Extent& extent) const;

 private:
  struct Cost {
    double forward = 4, backward = 4;  ///< for each multiply-add; ops that were not measured
  };

  std::map<std::uint32_t, Cost> costs_;  ///< by the op's key
};

}  // namespace thimble
