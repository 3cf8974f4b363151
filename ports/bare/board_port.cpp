#include "ports/api/board_port.hpp"

#include "board_config.hpp"
#include "ports/bare/console.hpp"
#include "ports/bare/file_flash.hpp"
#include "ports/bare/semihosting.hpp"
#include "ports/bare/stack.hpp"
#include "ports/bare/start.hpp"
#include "ports/bare/ticks.hpp"

namespace thimble {

namespace {

constinit Port the_port{
    .receive = [](void*, std::span<std::byte> to) { return console::receive(to); },
    .send = [](void*, std::span<const std::byte> bytes) { console::send(bytes); },
    .ticks = [](void*) { return ticks(); },
    .tick_unit = TickUnit::instructions,
    .ticks_per_second = 1'000'000'000,
    .stack_high_water = [](void*) { return stack_high_water(); },
    .stack_bytes = kBoard.stack_bytes,
    .flash = {},
    .workers = {},
    .exit = [](void*, int status) { semihosting::exit(status); },
};

}  // namespace

void start_board_port() { the_port.flash = open_file_flash(kBoard.checkpoint_flash); }

Port& board_port() { return the_port; }

}  // namespace thimble
