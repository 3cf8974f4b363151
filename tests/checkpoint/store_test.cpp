/// The store against a flash whose power fails at every operation.

#include "core/checkpoint/store.hpp"

#include <memory>

#include "ports/sim/flash.hpp"
#include "tests/checkpoint/tiny_run.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble_test;

namespace {

constexpr FlashGeometry kGeometry{16, 4096, 8};
static_assert(CheckpointStore::blocks_for(kGeometry, 2 * 4096 - 24) == 2);
static_assert(CheckpointStore::blocks_for(kGeometry, 2 * 4096 - 23) == 3);

/// A run, its flash and its store.
struct Board {
  explicit Board(const FlashGeometry& g = kGeometry, int slots = 2, std::uint64_t seed = 1)
      : flash(g, seed), slot_count(slots), store(flash.flash(), slots) {
    store.recover();
  }
  Fault save() {
    return store.save([&](CheckpointWriter& w) { return write_training(w, run.machine(), run.state); });
  }
  /// Power on, recover, load; the data cursor of what came back, or -1.
  std::int64_t reboot() {
    flash.power_on();
    store = CheckpointStore(flash.flash(), slot_count);
    store.recover();
    if (!store.holds()) return -1;
    const Fault f = load_training(run.machine(), store.source(), run.state, LoadWhat::everything, AfterCommit::anything);
    CHECK_FALSE(f);
    return std::int64_t(run.state.data_cursor);
  }

  SimFlash flash;
  int slot_count;
  CheckpointStore store;
  TinyRun<float> run;
};

/// Digests of the run after every micro-batch.
std::vector<std::uint64_t> digests_of_run(int count) {
  TinyRun<float> run;
  std::vector<std::uint64_t> list = {run.digest()};
  for (int i = 0; i < count; ++i) {
    run.go_on();
    list.push_back(run.digest());
  }
  return list;
}

constexpr int kSaves = 10;

/// Ten saves, one after each micro-batch; the power fails in operation `cut` and, where `second_cut` is not negative,
/// again in that operation of the saves after it. What comes back must be what was committed.
bool run_with_cut(std::int64_t cut, std::int64_t second_cut, const std::vector<std::uint64_t>& digests, int slots) {
  Board b(kGeometry, slots, std::uint64_t(cut) * 7919 + std::uint64_t(second_cut + 1));
  b.flash.cut_power_after(cut);
  int committed = -1;
  bool was_cut = false;
  for (int i = 1; i <= kSaves; ++i) {
    b.run.go_on();
    if (!b.save()) {
      committed = i;
      continue;
    }
    CHECK_FALSE(b.flash.powered());
    was_cut = true;
    std::int64_t got = b.reboot();
    // The save under way may have been complete when the power failed.
    CHECK_TRUE(got == committed || got == i);
    if (got >= 0) CHECK_EQUAL(digests[std::size_t(got)], b.run.digest());
    if (got < 0) {
      b.run.machine().initialise(3);
      b.run.state = TinyRun<float>().state;
      got = 0;
    }
    committed = got == 0 ? -1 : int(got);
    i = int(got);
    if (second_cut >= 0) b.flash.cut_power_after(second_cut);
    second_cut = -1;
  }
  CHECK_EQUAL(kSaves, b.reboot());
  CHECK_EQUAL(digests[kSaves], b.run.digest());
  CHECK_EQUAL(0, b.flash.violations());
  return was_cut;
}

}  // namespace

TEST_GROUP(CheckpointStore) {};

TEST(CheckpointStore, SurvivesAPowerCutAtEveryOperation) {
  const auto digests = digests_of_run(kSaves);
  for (const int slots : {2, 3}) {
    std::int64_t cut = 0;
    while (run_with_cut(cut, -1, digests, slots)) ++cut;
    CHECK_TRUE(cut > 10 * 30);  // ten saves of more than thirty pages
  }
}

TEST(CheckpointStore, SurvivesASecondCutAfterTheFirst) {
  const auto digests = digests_of_run(kSaves);
  for (std::int64_t cut = 0; run_with_cut(cut, -1, digests, 2); cut += 11) {
    for (std::int64_t second = 0; second < 45; second += 4) run_with_cut(cut, second, digests, 2);
  }
}

TEST(CheckpointStore, RecoveryOnlyReads) {
  Board b;
  b.run.go_on();
  CHECK_FALSE(b.save());
  const Bytes before = b.flash.bytes();
  const std::int64_t operations = b.flash.operations();
  CHECK_EQUAL(1, b.reboot());
  CHECK_EQUAL(operations, b.flash.operations());  // it only reads
  CHECK_TRUE(before == b.flash.bytes());
}

TEST(CheckpointStore, FallsBackWhenTheNewestIsDamagedAnywhere) {
  Board b;
  b.run.go_on();
  CHECK_FALSE(b.save());
  b.run.go_on();
  CHECK_FALSE(b.save());
  const std::uint64_t end = b.store.byte_count() + CheckpointStore::mark_bytes(kGeometry);
  const std::size_t second_slot = b.flash.bytes().size() / 2;
  // 20 bytes of mark, then padding that nobody reads, then the checkpoint.
  for (std::size_t i = 0; i < end; i += i < 64 ? 1 : 13) {
    if (i >= 20 && i < CheckpointStore::mark_bytes(kGeometry)) continue;
    b.flash.bytes()[second_slot + i] ^= std::byte{0x10};
    CHECK_EQUAL(1, b.reboot());
    b.flash.bytes()[second_slot + i] ^= std::byte{0x10};
  }
  CHECK_EQUAL(2, b.reboot());
}

TEST(CheckpointStore, WearsAllSlotsAlike) {
  Board b({24, 4096, 16}, 4);
  for (int i = 0; i < 40; ++i) {
    b.run.go_on();
    CHECK_FALSE(b.save());
    if (i % 7 == 3) CHECK_EQUAL(i + 1, b.reboot());
  }
  for (const std::int64_t e : b.flash.erases()) CHECK_EQUAL(10, e);
  CHECK_EQUAL(40u, b.store.sequence());
}

TEST(CheckpointStore, GoesToTheNextSlotWhenABlockFails) {
  Board b({24, 4096, 8}, 3);
  b.run.go_on();
  CHECK_FALSE(b.save());
  b.flash.break_block(8 + 2);
  for (int i = 2; i < 8; ++i) {
    b.run.go_on();
    CHECK_FALSE(b.save());
    CHECK_EQUAL(i, b.reboot());
  }
}

TEST(CheckpointStore, TriesEverySlotForTheFirstSave) {
  Board b;
  b.flash.break_block(0);
  b.run.go_on();
  CHECK_FALSE(b.save());
  CHECK_EQUAL(1, b.reboot());
}

TEST(CheckpointStore, ASourceStaysWithItsCheckpointDuringTheNextSave) {
  Board b;
  b.run.go_on();
  CHECK_FALSE(b.save());
  const ByteSource source = b.store.source();
  const std::uint64_t digest = b.run.digest();
  b.run.go_on(5);
  CHECK_FALSE(b.save());
  CHECK_FALSE(load_training(b.run.machine(), source, b.run.state, LoadWhat::everything, AfterCommit::anything));
  CHECK_EQUAL(digest, b.run.digest());
}

TEST(CheckpointStore, RefusesGeometriesThatItCannotServe) {
  TinyRun<float> run;
  const FlashGeometry good{16, 4096, 8};
  SimFlash flash(good);
  struct {
    FlashGeometry geometry;
    int slots;
  } const cases[] = {{{16, 4096, 0}, 2}, {{16, 4096, 1024}, 2}, {{16, 4096, 3}, 2}, {{1, 4096, 8}, 2},
                     {good, 0},          {good, 1},             {good, 17},         {{1 << 21, 4096, 8}, 2}};
  for (const auto& c : cases) {
    Flash f = flash.flash();
    f.geometry = c.geometry;
    CheckpointStore store(f, c.slots);
    store.recover();
    CHECK_FALSE(store.holds());
    CHECK_TRUE(store.save([&](CheckpointWriter& w) { return write_training(w, run.machine(), run.state); }));
  }
  CHECK_EQUAL(0, flash.operations());
}

TEST(CheckpointStore, RefusesACheckpointThatDoesNotFit) {
  Board b({4, 4096, 8}, 2);
  b.run.go_on();
  CHECK_TRUE(b.save().kind == FaultKind::write_failed);
  CHECK_FALSE(b.store.holds());
  CHECK_EQUAL(-1, b.reboot());
  CHECK_EQUAL(0, b.flash.violations());
}

TEST(CheckpointStore, ServesEveryProgramUnit) {
  for (const std::uint32_t unit : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 256u, 512u}) {
    Board b({16, 4096, unit}, 2);
    for (int i = 1; i <= 3; ++i) {
      b.run.go_on();
      CHECK_FALSE(b.save());
      CHECK_EQUAL(i, b.reboot());
    }
    CHECK_EQUAL(0, b.flash.violations());
  }
}
