/// What a board says in plain words is told from what stands inside its frames.

#include "tools/board/board_client.hpp"

#include <pb_encode.h>

#include <deque>

#include "tools/files/error.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

/// Says what it was given, a part at each reading; then nothing, or its line goes dead.
class Script : public ByteChannel {
 public:
  void write(std::span<const std::byte>) override {}
  std::size_t read(std::span<std::byte> to, std::chrono::milliseconds wait) override {
    if (parts.empty() && dead) throw Error("script", "has ended", "");
    if (parts.empty()) {
      now_ += wait;
      return 0;
    }
    const std::string part = parts.front();
    parts.pop_front();
    CHECK(part.size() <= to.size());
    std::copy_n(reinterpret_cast<const std::byte*>(part.data()), part.size(), to.begin());
    return part.size();
  }
  std::chrono::milliseconds now() const override { return now_; }
  std::string name() const override { return "the script"; }

  std::deque<std::string> parts;
  bool dead = false;

 private:
  std::chrono::milliseconds now_{0};
};

/// A whole frame whose first code is a printable byte, and whose next bytes are "\nB\n".
std::string frame_with_a_line() {
  const std::string payload = std::string("\nB\n") + std::string(60, 'x') + std::string(40, '\0');
  std::byte frame[kFrameBytes];
  const std::size_t size = make_frame(std::as_bytes(std::span(payload)), frame);
  return {reinterpret_cast<const char*>(frame), size};
}

}  // namespace

TEST_GROUP(BoardClient) {
  Script line;
  BoardClient client{line, 1};
  std::vector<std::string> said;

  void setup() override {
    client.on_text = [this](std::string_view text) { said.emplace_back(text); };
  }
  void listen(int times) {
    for (int i = 0; i < times; ++i) client.listen(std::chrono::milliseconds(50));
  }
};

TEST(BoardClient, TheInsideOfAFrameIsNoText) {
  const std::string frame = frame_with_a_line();
  CHECK(frame[1] >= ' ' && frame[1] <= '~' && frame[2] == '\n');
  line.parts = {frame, frame.substr(0, 20), frame.substr(20), frame + frame};
  listen(20);
  LONGS_EQUAL(0, said.size());
  LONGS_EQUAL(0, client.damaged_frames());
}

TEST(BoardClient, LastWordsAreTextWhateverFollows) {
  const std::string words = "\nfault: exception 3\nr0 0\r\n", frame = frame_with_a_line();
  line.parts = {frame + words};
  listen(20);  // silence follows
  LONGS_EQUAL(2, said.size());
  STRCMP_EQUAL("fault: exception 3", said[0].c_str());
  STRCMP_EQUAL("r0 0", said[1].c_str());
  line.parts = {frame + words + frame};
  listen(1);  // a frame follows
  LONGS_EQUAL(4, said.size());
  line.parts = {frame.substr(0, 9) + words};
  line.dead = true;
  listen(1);
  try {
    listen(1);  // the board's end follows
    FAIL("a dead line was read");
  } catch (const Error&) {
  }
  STRCMP_EQUAL("r0 0", said.back().c_str());
}

TEST(BoardClient, TellsOfSilenceAndNamesTheLine) {
  std::chrono::milliseconds longest{0};
  client.on_silence = [&](std::chrono::milliseconds time) { longest = time; };
  try {
    client.ask();
    FAIL("nobody answered");
  } catch (const Error& e) {
    STRCMP_EQUAL("the script", e.where().c_str());
  }
  LONGS_EQUAL(30'000, longest.count());
}
