/// A flood of garbage on a board's line, while it trains and is told what to do.

#include "tools/sim/flood.hpp"

#include <memory>
#include <string>

#include "models/gpt_message.hpp"
#include "ports/sim/board.hpp"
#include "tools/board/board_client.hpp"
#include "tools/model/session.hpp"
#include "tools/sim/sim_channel.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

constexpr std::int64_t kFloodBytes = 10'000'000;
constexpr std::uint64_t kSteps = 800;

SessionOptions session_options() {
  SessionOptions o;
  o.extent = {1, 16};
  return o;
}

Session<float> session(find_model("microgpt"), session_options());  // made before the leak detector watches

/// A line on which garbage comes faster than the board reads.
class FloodedChannel : public SimChannel {
 public:
  FloodedChannel(SimBoard& board, Flood::Kind kind) : SimChannel(board), board_(board), flood_(kind, 3) {}

  std::size_t read(std::span<std::byte> to, std::chrono::milliseconds wait) override {
    pour();
    return SimChannel::read(to, wait < std::chrono::milliseconds(1) ? wait : std::chrono::milliseconds(1));
  }
  std::int64_t poured() const { return poured_; }
  bool dry = false;

 private:
  void pour() {
    while (!dry && poured_ < kFloodBytes && board_.to_board().waiting() < 16384) {
      const auto bytes = flood_.next();
      board_.to_board().write(bytes);
      poured_ += std::int64_t(bytes.size());
    }
  }

  SimBoard& board_;
  Flood flood_;
  std::int64_t poured_ = 0;
};

struct Run {
  std::uint64_t digest = 0;
  std::int64_t poured = 0;
  std::uint32_t damaged = 0;
  std::uint64_t steps = 0;
};

Run train(Flood::Kind kind, bool dry) {
  std::string names;
  const char* const parts[] = {"an", "bo", "ca", "di", "el", "fa", "gu", "hi"};
  for (int i = 0; i < 200; ++i) names += std::string(parts[i % 8]) + parts[i / 8 % 8] + parts[i * 7 % 8] + "\n";
  TextData text(std::as_bytes(std::span(names)), TextKind::documents);
  std::vector<std::int32_t> ids(32);
  BoardModel model;
  model.name = Name("microgpt");
  model.training = session.model().training;
  model.has_gpt = true;
  model.gpt = gpt_message(*session.model().gpt);
  model.run = {kSteps, 0, 1, false};
  auto board = std::make_unique<SimBoard>(FlashGeometry{64, 4096, 4}, LineFaults{}, 1);
  BoardProgram program(session.engine(), model, text, ids, board->port());
  FloodedChannel channel(*board, kind);
  channel.dry = dry;
  channel.run(&program);
  BoardClient client(channel, 77);
  program.start();
  BoardClient::Command c = thimble_board_Command_init_zero;
  c.which_action = thimble_board_Command_configure_tag;
  c.action.configure.seed = 7;
  c.action.configure.steps = kSteps;
  client.require(c, "configure");
  client.require(thimble_board_Command_start_tag, "start");
  BoardClient::State state = client.ask();
  while (state.activity == thimble_board_Activity_ACTIVITY_TRAINING || (!dry && channel.poured() < kFloodBytes)) {
    client.listen(std::chrono::milliseconds(1));
    state = client.ask();
  }
  LONGS_EQUAL(thimble_board_Activity_ACTIVITY_FINISHED, state.activity);
  return {state.digest, channel.poured(), state.damaged_frames, state.step};
}

}  // namespace

TEST_GROUP(Flood) {
  void check(Flood::Kind kind) {
    const Run quiet = train(kind, true), flooded = train(kind, false);
    CHECK(flooded.poured >= kFloodBytes);
    CHECK(flooded.damaged > 1000);
    LONGS_EQUAL(0, quiet.damaged);
    LONGS_EQUAL(kSteps, flooded.steps);
    CHECK(flooded.digest == quiet.digest);
  }
};

TEST(Flood, TenMegabytesOfRandomBytesChangeNothing) { check(Flood::Kind::random); }

TEST(Flood, TenMegabytesOfMutatedFramesChangeNothing) { check(Flood::Kind::mutated_frames); }
