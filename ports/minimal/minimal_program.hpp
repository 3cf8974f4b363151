#pragma once
/// The board's program on a minimal port, in one call.

#include "core/train/trainer.hpp"
#include "ports/api/board_port.hpp"
#include "ports/program/board_model.hpp"
#include "ports/program/board_recompute.hpp"

namespace thimble {

/// As an image of the model: fused update where its training allows it, recomputed what it wants recomputed on a board.
template <class Model, Profile profile, std::int64_t budget_bytes = 0>
using MinimalTrainer = Trainer<Model, Simd<float, Plain<profile>>,
                               TrainerOptions{.extent = Model::kExtent,
                                              .recompute = board_recompute<Model>(),
                                              .fuse_update = allows_fused_update(Model::kTraining.optimizer),
                                              .optimizer = Model::kTraining.optimizer.kind,
                                              .budget_bytes = budget_bytes}>;

/// Trains `Model` with the host's commands and reports until the host says `exit`; returns the exit status. The text must
/// outlive the call. Model, ids and program are static objects: the linker counts them. `budget_bytes`: RAM for the
/// model's arena, 0 for no limit; what does not fit does not compile. Profile: fused for a processor with a fused
/// multiply-add (Cortex-M4F and up), else separate.
template <class Model, Profile profile, std::int64_t budget_bytes = 0>
int run_minimal_program(const char* name, std::span<const std::byte> text, TextKind kind) {
  static MinimalTrainer<Model, profile, budget_bytes> trainer;
  static std::int32_t ids[2 * Model::kExtent.tokens()];
  const BoardModel model = board_model<Model>(Name(name), profile, {});
  TextData data(text, kind);
  BoardProgram program(trainer, model, data, ids, board_port());
  return program.run();
}

}  // namespace thimble
