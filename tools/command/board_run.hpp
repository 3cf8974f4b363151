#pragma once
/// thimble board run.

#include "tools/command/common.hpp"

namespace thimble {

struct BoardFlags;

/// An Error where the model cannot train on the text that an image is to carry, or a board is said to.
void require_data(const BoardFlags& flags);

void add_board_run_command(CLI::App& board);

}  // namespace thimble
