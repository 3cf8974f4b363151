#include "ports/bare/start.hpp"

#include "ports/api/board_port.hpp"
#include "ports/bare/image_memory.hpp"
#include "ports/bare/semihosting.hpp"
#include "ports/bare/stack.hpp"
#include "ports/bare/uart.hpp"

int main();

namespace thimble {

extern "C" [[noreturn]] void thimble_start() {
  const std::uint32_t* from = thimble_data_load;
  for (std::uint32_t* to = thimble_data_begin; to != thimble_data_end; ++to) *to = *from++;
  for (std::uint32_t* to = thimble_bss_begin; to != thimble_bss_end; ++to) *to = 0;
  paint_stack();
  uart::start();
  start_processor();
  start_board_port();
  for (auto* f = thimble_init_begin; f != thimble_init_end; ++f) (*f)();
  const int status = main();
  board_port().exit(board_port().state, status);
  for (;;) {
  }
}

}  // namespace thimble
