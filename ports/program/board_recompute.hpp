#pragma once
/// A model's recompute schedule on a board.

#include "core/tape/recompute.hpp"

namespace thimble {

/// What is computed again for backward: as asked, or as the model wants it on a board.
template <class Model>
constexpr RecomputeText board_recompute(const char* asked = "") {
  if (*asked != 0) return asked;
  if constexpr (requires { Model::kBoardRecompute; }) return Model::kBoardRecompute;
  return "none";
}

}  // namespace thimble
