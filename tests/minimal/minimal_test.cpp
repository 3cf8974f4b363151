/// ports/minimal on a pretended board: a line, a clock that wraps around, a flash of bytes.

#include "ports/minimal/minimal_port.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "models/microgpt.hpp"
#include "ports/minimal/minimal_program.hpp"
#include "tools/board/board_client.hpp"
#include "tools/model/session.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

constexpr std::uint32_t kBlocks = 48, kErase = 4096, kProgram = 8;

/// What is behind the C functions. The program runs while the host waits for it: its `receive` looks at the host.
struct Board {
  std::deque<std::uint8_t> to_board, to_host;
  std::vector<std::uint8_t> flash = std::vector<std::uint8_t>(kBlocks * kErase, 0xFF);
  std::uint32_t clock = 0xFFFFFF00;  // about to wrap around
};
Board* board = nullptr;  // of the running test

}  // namespace

extern "C" {

const std::uint32_t thimble_board_flash_block_count = kBlocks;
const std::uint32_t thimble_board_flash_erase_bytes = kErase;
const std::uint32_t thimble_board_flash_program_bytes = kProgram;

int thimble_board_receive(void) {
  if (board->to_board.empty()) return -1;
  const int b = board->to_board.front();
  board->to_board.pop_front();
  return b;
}
void thimble_board_send(std::uint8_t byte) { board->to_host.push_back(byte); }
std::uint32_t thimble_board_microseconds(void) { return board->clock += 3; }
[[noreturn]] void thimble_board_exit(int) { std::abort(); }

int thimble_board_flash_read(std::uint32_t address, void* to, std::uint32_t bytes) {
  if (address + bytes > board->flash.size()) return 1;
  std::copy_n(board->flash.begin() + address, bytes, static_cast<std::uint8_t*>(to));
  return 0;
}
int thimble_board_flash_program(std::uint32_t address, const void* from, std::uint32_t bytes) {
  if (address + bytes > board->flash.size() || address % kProgram != 0 || bytes % kProgram != 0) return 1;
  const auto* const b = static_cast<const std::uint8_t*>(from);
  for (std::uint32_t i = 0; i < bytes; ++i) board->flash[address + i] &= b[i];
  return 0;
}
int thimble_board_flash_erase(std::uint32_t block) {
  if (block >= kBlocks) return 1;
  std::fill_n(board->flash.begin() + block * kErase, kErase, std::uint8_t(0xFF));
  return 0;
}

}  // extern "C"

namespace {

/// The host's end: waiting is what lets the program work.
class Channel : public ByteChannel {
 public:
  explicit Channel(BoardProgram& program) : program_(program) {}
  void write(std::span<const std::byte> bytes) override {
    for (const std::byte b : bytes) board->to_board.push_back(std::to_integer<std::uint8_t>(b));
  }
  std::size_t read(std::span<std::byte> to, std::chrono::milliseconds) override {
    for (int i = 0; i < 100 && board->to_host.empty(); ++i) program_.poll();
    ++now_;
    std::size_t n = 0;
    for (; n < to.size() && !board->to_host.empty(); ++n) {
      to[n] = std::byte(board->to_host.front());
      board->to_host.pop_front();
    }
    return n;
  }
  std::chrono::milliseconds now() const override { return std::chrono::milliseconds(now_); }

 private:
  BoardProgram& program_;
  std::int64_t now_ = 0;
};

const std::string names = "anna\nberta\ncarla\ndora\nemil\nfrieda\ngustav\nhanna\n";

using Kernels = Simd<float, Plain<Profile::fused>>;
constexpr TrainerOptions kKeepsAll{.extent = Microgpt::kExtent, .fuse_update = true};
MinimalTrainer<Microgpt, Profile::fused> trainer;
static_assert(MinimalTrainer<Microgpt, Profile::fused>::arena_bytes < Trainer<Microgpt, Kernels, kKeepsAll>::arena_bytes,
              "what the model wants recomputed on boards is not kept");
std::int32_t ids[2 * Microgpt::kExtent.tokens()];
constexpr BoardModel kModel = board_model<Microgpt>("microgpt", Profile::fused, {});

/// From one reset to the next, up to `until`.
std::uint64_t live(std::uint64_t until, bool configure) {
  TextData text(std::as_bytes(std::span(names)), TextKind::documents);
  BoardProgram program(trainer, kModel, text, ids, board_port());
  Channel channel(program);
  BoardClient client(channel, configure ? 1 : 1000);
  std::uint64_t step = 0, digest = 0;
  bool ours = false;
  client.on_step = [&](const BoardClient::Step& s) {
    if (ours && s.step == until) digest = s.digest;
    if (ours) step = s.step;
    CHECK(s.ticks > 0 && s.ticks < 1'000'000);
  };
  program.start();
  if (configure) {
    BoardClient::Command c = thimble_board_Command_init_zero;
    c.which_action = thimble_board_Command_configure_tag;
    c.action.configure.seed = 5;
    c.action.configure.steps = 30;
    c.action.configure.save_every = 4;
    client.require(c, "configure");
    ours = true;
    client.require(thimble_board_Command_start_tag, "start");
  } else {
    LONGS_EQUAL(5, client.ask().seed);
    ours = true;
  }
  while (step < until) client.listen(std::chrono::milliseconds(1));
  board->to_board.clear();
  board->to_host.clear();
  return digest;
}

}  // namespace

TEST_GROUP(MinimalPort) {
  void setup() override { board = new Board; }
  void teardown() override {
    delete board;
    board = nullptr;
  }
};

TEST(MinimalPort, TrainsAndGoesOnFromItsFlash) {
  board->flash.assign(board->flash.size(), 0xFF);
  const std::uint64_t whole = live(30, true);
  board->flash.assign(board->flash.size(), 0xFF);
  live(13, true);  // a reset after the checkpoint of step 12
  const std::uint64_t resumed = live(30, false);
  CHECK(whole != 0 && whole == resumed);
}

TEST(MinimalPort, TheClockGoesOnWhereTheBoardsWrapsAround) {
  const Port& port = board_port();
  port.ticks(port.state);
  board->clock = 0xFFFFFF00;
  std::uint64_t before = port.ticks(port.state);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t now = port.ticks(port.state);
    LONGS_EQUAL(3, now - before);
    before = now;
  }
}
