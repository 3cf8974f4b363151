#pragma once
/// The text that a board trains on, read by its host.

#include <memory>
#include <optional>

#include "tools/command/board_flags.hpp"
#include "tools/data/symbols.hpp"
#include "tools/train/data_source.hpp"

namespace thimble {

/// `file`, cut into batches as the board does it. An Error where the model cannot train on it.
std::unique_ptr<DataSource> open_board_text(const BoardFlags& flags, const std::string& file, std::uint64_t seed);

/// The symbols of what an image is to carry, or a board is said to; nothing where it is not said. An Error as above.
std::optional<Symbols> board_symbols(const BoardFlags& flags);

}  // namespace thimble
