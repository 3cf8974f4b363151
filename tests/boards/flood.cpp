/// Megabytes of random bytes and as many of mutated frames on the serial line of an emulated board that trains: it goes
/// on, and after every step the weights are the host's. Usage: board_flood BOARD MODEL MEGABYTES

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tools/board/board_client.hpp"
#include "tools/board/board_image.hpp"
#include "tools/board/host_twin.hpp"
#include "tools/board/qemu_board.hpp"
#include "tools/files/error.hpp"
#include "tools/sim/flood.hpp"

using namespace thimble;

namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kEndless = 1'000'000;  ///< steps
constexpr std::chrono::milliseconds kListen{20};

/// Steps of the board compared with the host's so far.
class Watch {
 public:
  Watch(const Model& model, const BoardInfo& board, const BoardImage& image) {
    DataChoice data;
    data.documents = image.text.string();
    data.in_order = true;
    SessionOptions o;
    o.extent = model.extent;
    o.profile = board.profile;
    o.moments = model.training.optimizer.moments();
    twin_.emplace(model, o, open_data(data, model, model.extent, kSeed), model.training, 1, kSeed);
  }

  void take(const BoardClient::Step& s) {
    if (s.status != 0) throw Error("step " + std::to_string(s.step), "was left out", "");
    if (s.digest != twin_->digest_after(s.step)) throw Error("step " + std::to_string(s.step), "has other weights", "");
    ++steps_;
    last_ = std::max(last_, s.step);
  }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t last() const { return last_; }

 private:
  std::optional<HostTwin> twin_;
  std::uint64_t steps_ = 0, last_ = 0;
};

void pour(Flood::Kind kind, std::size_t flood_bytes, QemuBoard& board, BoardClient& client, const Watch& watch) {
  Flood flood(kind, kSeed);
  const std::uint64_t before = watch.steps();
  const std::uint32_t damaged = client.ask().damaged_frames;
  std::size_t poured = 0;
  while (poured < flood_bytes) {
    const auto bytes = flood.next();
    board.write(bytes);
    poured += bytes.size();
    // What the board says must be read meanwhile, or its line would be full.
    while (client.listen(std::chrono::milliseconds(0))) {
    }
  }
  const BoardClient::State state = client.ask();
  std::cout << poured << " bytes: " << watch.steps() - before << " reports meanwhile, "
            << state.damaged_frames - damaged << " damaged frames\n";
  if (state.activity != thimble_board_Activity_ACTIVITY_TRAINING) throw Error("the board", "does not train any more", "");
  if (watch.steps() == before) throw Error("the board", "did no step during the flood", "");
  if (state.damaged_frames - damaged < flood_bytes / 10000) throw Error("the board", "saw no flood", "");
}

void run(const BoardInfo& info, const Model& model, std::size_t flood_bytes) {
  ImageRequest request;
  request.model = &model;
  const BoardImage image = build_image(info, request);
  Watch watch(model, info, image);
  QemuBoard board(info, {image.copy->path(), {}, false});
  BoardClient client(board, 1);
  BoardClient::Command c = thimble_board_Command_init_zero;
  c.which_action = thimble_board_Command_configure_tag;
  c.action.configure.seed = kSeed;
  c.action.configure.steps = kEndless;
  c.action.configure.report_every = 20;
  client.require(c, "configure");
  // Until here it was at a run of its own.
  client.on_step = [&](const BoardClient::Step& s) { watch.take(s); };
  client.require(thimble_board_Command_start_tag, "start");
  for (const Flood::Kind kind : {Flood::Kind::random, Flood::Kind::mutated_frames}) pour(kind, flood_bytes, board, client, watch);
  const std::uint64_t then = watch.steps();
  while (watch.steps() < then + 5) client.listen(kListen);
  std::cout << watch.steps() << " reported steps compared with the host's\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: board_flood BOARD MODEL MEGABYTES\n";
    return 2;
  }
  try {
    run(find_board(argv[1]), find_model(argv[2]), std::size_t(std::atof(argv[3]) * 1e6));
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
