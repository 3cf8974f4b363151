/// An image that does what the test asks for on the console, a letter at a time (port_test.py has what they mean).

#include "core/base/check.hpp"
#include "ports/api/board_port.hpp"
#include "ports/bare/text_line.hpp"

namespace {

using namespace thimble;

Port& port() { return board_port(); }

// Not inlined: main would have the stack frames of all of them.

void say(const TextLine& line) { port().send(port().state, line.bytes()); }

std::byte next() {
  std::byte b;
  while (port().receive(port().state, {&b, 1}) == 0) {
  }
  return b;
}

/// Answers with the sum of all bytes of a burst of 2,000, more than any buffer holds, however slowly it reads them.
[[gnu::noinline]] void sum_burst() {
  unsigned sum = 0;
  for (int i = 0; i < 2000; ++i) {
    sum += std::to_integer<unsigned>(next());
    for (volatile int wait = 0; wait < 1000; wait = wait + 1) {
    }
  }
  say(TextLine().text("sum ").decimal(sum).text("\n"));
}

/// The clock must count a loop's instructions: about as many for each of two equal loops, and it never goes back.
[[gnu::noinline]] void time_loops() {
  std::uint64_t t[3] = {};
  for (std::uint64_t& x : t) {
    x = port().ticks(port().state);
    for (volatile int i = 0; i < 10000; i = i + 1) {
    }
  }
  say(TextLine().text("loops ").decimal(t[1] - t[0]).text(" ").decimal(t[2] - t[1]).text("\n"));
}

/// Erased flash is ones; programming clears bits; what it must refuse, it refuses.
[[gnu::noinline]] void use_flash() {
  const Flash& f = port().flash;
  if (f.read == nullptr) return say(TextLine().text("flash none\n"));
  const FlashGeometry& g = f.geometry;
  std::byte page[kFlashPage], read[kFlashPage];
  const std::uint32_t bytes = kFlashPage / g.program_bytes * g.program_bytes;
  for (std::uint32_t i = 0; i < bytes; ++i) page[i] = std::byte(i * 7 + 1);
  const std::uint32_t address = (g.block_count - 1) * g.erase_bytes, end = g.block_count * g.erase_bytes;
  bool good = f.read(f.state, 0, {read, 1});
  const auto before = std::to_integer<unsigned>(read[0]);
  good = good && f.erase(f.state, g.block_count - 1) && f.read(f.state, address, {read, bytes});
  for (std::uint32_t i = 0; i < bytes; ++i) good = good && read[i] == std::byte{0xFF};
  good = good && f.program(f.state, address, {page, bytes}) && f.read(f.state, address, {read, bytes});
  for (std::uint32_t i = 0; i < bytes; ++i) good = good && read[i] == page[i];
  const bool refuses = !f.erase(f.state, g.block_count) && !f.program(f.state, end, {page, g.program_bytes}) &&
                       !f.read(f.state, end, {read, 1}) &&
                       (g.program_bytes == 1 || !f.program(f.state, address + 1, {page, g.program_bytes}));
  for (std::byte& b : page) b = std::byte{0};  // the test looks for it after the next start
  good = good && f.erase(f.state, 0) && f.program(f.state, 0, {page, g.program_bytes});
  say(TextLine().text(good ? "flash good" : "flash bad").text(refuses ? " refuses" : " takes all").text(" first ")
          .decimal(before).text("\n"));
}

[[gnu::noinline]] void use_stack() {
  const std::uint32_t before = port().stack_high_water(port().state);
  volatile char array[1024];
  for (std::size_t i = 0; i < sizeof array; ++i) array[i] = char(i);
  say(TextLine().text("stack ").decimal(before).text(" ").decimal(port().stack_high_water(port().state)).text(" of ")
          .decimal(port().stack_bytes).text("\n"));
}

/// Deeper and deeper.
[[gnu::noinline]] int overflow(int depth) {
  volatile char array[512];
  for (std::size_t i = 0; i < sizeof array; ++i) array[i] = char(depth);
  return overflow(depth + 1) + array[depth % 512];
}

[[noreturn]] void run_undefined_instruction() {
#if defined(__riscv)
  asm volatile(".half 0\n\t.half 0");
#else
  asm volatile("udf #1");
#endif
  __builtin_unreachable();
}

}  // namespace

int main() {
  say(TextLine().text("ready\n"));
  for (;;) {
    switch (char(next())) {
      case 'b': sum_burst(); break;
      case 't': time_loops(); break;
      case 'f': use_flash(); break;
      case 's': use_stack(); break;
      case 'o': return overflow(0);
      case 'u': run_undefined_instruction();
      case 'c': THIMBLE_CHECK(false); break;
      case 'x': return 7;
      default: say(TextLine().text("what?\n"));
    }
  }
}
