#include "core/base/check.hpp"
#include "ports/api/board_port.hpp"
#include "ports/bare/text_line.hpp"

namespace thimble {

[[noreturn]] void fatal(const char* file, int line) {
  TextLine t;
  t.text("\nfatal: ").text(file).text(":").decimal(std::uint64_t(line)).text("\n");
  const Port& port = board_port();
  port.send(port.state, t.bytes());
  port.exit(port.state, kFatalStatus);
  for (;;) {
  }
}

}  // namespace thimble

/// An image has no object that is deleted and no function left without a body; the compiler's tables may name these.
extern "C" [[noreturn]] void __cxa_pure_virtual() { thimble::fatal("pure virtual call", 0); }
