#pragma once
/// thimble board run.

#include "tools/command/common.hpp"

namespace thimble {

void add_board_run_command(CLI::App& board);

}  // namespace thimble
