/// Lives of a board with everything going wrong.

#include "tools/sim/life.hpp"

#include <cstdio>
#include <string>

#include "CppUTest/TestHarness.h"

using namespace thimble;

namespace {

SessionOptions session_options(bool fuse_update) {
  SessionOptions o;
  o.extent = {1, 16};
  o.fuse_update = fuse_update;
  return o;
}

// Made before the leak detector watches. As images are, and with gradients that persist.
Session<float> session(find_model("microgpt"), session_options(true));
Session<float> unfused(find_model("microgpt"), session_options(false));

constexpr FlashGeometry kFlash{64, 4096, 4};

std::string names() {
  std::string text;
  const char* const parts[] = {"an", "bo", "ca", "di", "el", "fa", "gu", "hi"};
  for (int i = 0; i < 200; ++i) text += std::string(parts[i % 8]) + parts[i / 8 % 8] + parts[i * 7 % 8] + "\n";
  return text;
}

LifeFaults power_cuts() {
  LifeFaults f;
  f.power_cuts = 5;
  f.flash_cuts = 0.5;
  return f;
}

LifeOptions options_with(const LifeFaults& faults, bool data_from_host = false) {
  LifeOptions o;
  o.steps = 30;
  o.save_every = 4;
  o.flash = kFlash;
  o.faults = faults;
  o.data_from_host = data_from_host;
  return o;
}

}  // namespace

TEST_GROUP(Life) {
  const std::string text = names();
  LifeResult live_once(const LifeOptions& o, std::uint64_t seed, std::optional<std::uint64_t> expected) {
    return live(session, std::as_bytes(std::span(text)), TextKind::documents, o, seed, expected);
  }
  std::uint64_t quiet_digest() {
    const LifeResult r = live_once(options_with({}), 1, {});
    CHECK_TEXT(r.outcome == Outcome::finished, r.reason.c_str());
    LONGS_EQUAL(0, r.resets);
    LONGS_EQUAL(0, r.repeated);
    return r.digest;
  }
  /// Lives `count` lives; returns how many finished. None may be wrong.
  int live_many(const LifeOptions& o, int count, int* resets = nullptr) {
    const std::uint64_t expected = quiet_digest();
    int finished = 0;
    for (int seed = 1; seed <= count; ++seed) {
      const LifeResult r = live_once(o, std::uint64_t(seed), expected);
      const std::string where = "seed " + std::to_string(seed) + ": " + r.reason;
      CHECK_TEXT(r.outcome != Outcome::wrong, where.c_str());
      finished += r.outcome == Outcome::finished;
      if (resets) *resets += r.resets;
    }
    return finished;
  }
};

TEST(Life, AFusedUpdateGivesTheSameWeights) {
  const LifeResult r = live(unfused, std::as_bytes(std::span(text)), TextKind::documents, options_with({}), 1, {});
  CHECK(r.outcome == Outcome::finished);
  CHECK_EQUAL(r.digest, quiet_digest());
}

TEST(Life, WindowsFromTheHostGiveTheSameWeights) {
  const std::uint64_t expected = quiet_digest();
  const LifeResult r = live_once(options_with({}, true), 1, expected);
  CHECK_TEXT(r.outcome == Outcome::finished, r.reason.c_str());
}

TEST(Life, ANoisyLineChangesNothing) {
  LifeFaults noisy;
  noisy.line = {0.002, 0.002, 0.002, 0.0005};
  LONGS_EQUAL(10, live_many(options_with(noisy), 10));
  LONGS_EQUAL(10, live_many(options_with(noisy, true), 10));
}

TEST(Life, ABoardBehindADeadLineIsUnreachable) {
  LifeFaults dead;
  dead.line.drop = 1;
  const LifeResult r = live_once(options_with(dead), 1, {});
  CHECK_TEXT(r.outcome == Outcome::unreachable, text_of(r.outcome));
}

TEST(Life, PowerCutsChangeNothing) {
  int resets = 0;
  LONGS_EQUAL(30, live_many(options_with(power_cuts()), 30, &resets));
  CHECK(resets > 60);
}

TEST(Life, EverythingAtOnceEndsWellOrAsDeclared) {
  LifeFaults all = power_cuts();
  all.line = {0.001, 0.001, 0.001, 0.0002};
  all.broken_blocks = 0.3;
  CHECK(live_many(options_with(all), 30) > 15);
  CHECK(live_many(options_with(all, true), 30) > 15);
}

TEST(Life, ASeedReplaysExactly) {
  LifeFaults all = power_cuts();
  all.line = {0.001, 0.001, 0.001, 0.0002};
  const std::uint64_t expected = quiet_digest();
  const LifeResult a = live_once(options_with(all), 5, expected), b = live_once(options_with(all), 5, expected);
  LONGS_EQUAL(a.resets, b.resets);
  LONGS_EQUAL(a.repeated, b.repeated);
  LONGS_EQUAL(a.damaged_bytes, b.damaged_bytes);
  CHECK(a.seconds == b.seconds && a.digest == b.digest);
}
