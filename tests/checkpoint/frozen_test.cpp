/// Files of every released format must load for ever, into the same state.

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/checkpoint/tiny_run.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble_test;

namespace {

Bytes read_frozen(const std::string& name) {
  std::ifstream in(std::string(THIMBLE_SOURCE_DIR) + "/tests/checkpoint/frozen/" + name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_GROUP(FrozenCheckpoint) {};

TEST(FrozenCheckpoint, Format1Loads) {
  // Written by version 0.1.0: ten micro-batches of seed 3, in windows of three.
  const Bytes bytes = read_frozen("format_1.thimble");
  CHECK_TRUE(!bytes.empty());
  TinyRun<float> run(99);
  CHECK_FALSE(run.load(bytes, LoadWhat::weights));
  CHECK_EQUAL(0xECD778A221A98671ull, run.digest());
  CHECK_FALSE(run.load(bytes));
  CHECK_EQUAL(3, run.machine().step());
  CHECK_EQUAL(1, run.machine().state().window.micro_batches);
  CHECK_EQUAL(10u, run.state.data_cursor);
  CHECK_EQUAL(3u, run.state.seed);
  CHECK_EQUAL(80u, run.state.tokens);
  DOUBLES_EQUAL(0.05, 1 - run.state.options.optimizer.beta2, 1e-15);
  CHECK_TRUE(run.state.options.schedule.kind == ScheduleKind::cosine);
}
