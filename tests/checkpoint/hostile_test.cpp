/// Every damage to a checkpoint is found before a weight changes.

#include <memory>

#include "tests/checkpoint/mend.hpp"
#include "tests/checkpoint/tiny_run.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble_test;

namespace {

/// A loaded run that must stay as it is.
class Victim {
 public:
  Victim() {
    run_.go_on(7);
    before_ = run_.save();
  }
  /// Loads what must not load; the fault.
  Fault refuse(const Bytes& bytes) {
    const Fault f = run_.load(bytes);
    CHECK_TRUE(f);
    CHECK_TRUE(f.offset <= bytes.size());
    CHECK_TRUE(f.field[0] != 0);
    return f;
  }
  void check_unchanged() { CHECK_TRUE(run_.save() == before_); }

 private:
  TinyRun<float> run_{5};
  Bytes before_;
};

Bytes good_checkpoint() {
  TinyRun<float> run(3);
  run.go_on(10);
  const CheckpointNote notes[] = {{"tokenizer", "abc"}};
  return run.save(notes);
}

}  // namespace

TEST_GROUP(HostileCheckpoint){};

TEST(HostileCheckpoint, CutAtEveryByte) {
  const Bytes good = good_checkpoint();
  Victim victim;
  for (std::size_t n = 0; n < good.size(); ++n) {
    const Fault f = victim.refuse(Bytes(good.begin(), good.begin() + std::ptrdiff_t(n)));
    CHECK_TRUE(f.kind == FaultKind::truncated);
  }
  victim.check_unchanged();
}

TEST(HostileCheckpoint, EveryByteFlipped) {
  Bytes bytes = good_checkpoint();
  Victim victim;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      bytes[n] ^= std::byte(mask);
      victim.refuse(bytes);
      bytes[n] ^= std::byte(mask);
    }
  }
  victim.check_unchanged();
}

TEST(HostileCheckpoint, EveryByteSetToTheEndsOfItsRange) {
  // Among them every length field: 0, 1, the longest one-byte varint, and one that goes on.
  const Bytes good = good_checkpoint();
  Victim victim;
  for (std::size_t n = 0; n < good.size(); ++n) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      if (good[n] == std::byte(value)) continue;
      Bytes bytes = good;
      bytes[n] = std::byte(value);
      victim.refuse(bytes);
    }
  }
  victim.check_unchanged();
}

TEST(HostileCheckpoint, LengthsOfUpToTenBytes) {
  const Bytes good = good_checkpoint();
  Victim victim;
  const auto records = records_of(good);
  for (const RecordPlace& r : records) {
    const std::uint64_t length = r.end - r.body;
    for (const std::uint64_t value : {std::uint64_t(0), std::uint64_t(1), length - 1, length + 1, std::uint64_t(0x7FFFFFFF),
                                      std::uint64_t(0xFFFFFFFF), ~std::uint64_t(0)}) {
      Bytes bytes(good.begin(), good.begin() + std::ptrdiff_t(r.begin));
      std::uint64_t rest = value;
      for (; rest >= 0x80; rest >>= 7) bytes.push_back(std::byte(rest | 0x80));
      bytes.push_back(std::byte(rest));
      bytes.insert(bytes.end(), good.begin() + std::ptrdiff_t(r.body), good.end());
      victim.refuse(bytes);
    }
  }
  CHECK_EQUAL(good.size(), records.back().end);
  victim.check_unchanged();
}

TEST(HostileCheckpoint, RecordsLeftOutTwiceOrInAnotherOrder) {
  const Bytes good = good_checkpoint();
  std::vector<Bytes> records;
  for (const RecordPlace& r : records_of(good)) {
    records.emplace_back(good.begin() + std::ptrdiff_t(r.begin), good.begin() + std::ptrdiff_t(r.end));
  }
  const auto join = [](const std::vector<Bytes>& list) {
    Bytes all;
    for (const Bytes& b : list) all.insert(all.end(), b.begin(), b.end());
    return all;
  };
  Victim victim;
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::vector<Bytes> list = records;
    list.erase(list.begin() + std::ptrdiff_t(i));
    victim.refuse(join(list));
    list = records;
    list.insert(list.begin() + std::ptrdiff_t(i), records[i]);
    victim.refuse(join(list));
    list = records;
    if (i + 1 == records.size()) break;
    std::swap(list[i], list[i + 1]);
    victim.refuse(join(list));
  }
  // A record of another save of the same run: whole in itself, but not of this checkpoint.
  TinyRun<float> other(3);
  other.go_on(13);
  Bytes later = other.save();
  Bytes mixed = good;
  std::copy(later.end() - 200, later.end() - 60, mixed.end() - 200);
  victim.refuse(mixed);
  mixed = good;
  mixed.push_back(std::byte{0});
  CHECK_TRUE(victim.refuse(mixed).kind == FaultKind::trailing_bytes);
  victim.check_unchanged();
}

TEST(HostileCheckpoint, EveryByteFlippedUnderRightCrcs) {
  // The digests, the commit's chain and the schema still find what matters; what they let through is the same state.
  const Bytes good = good_checkpoint();
  TinyRun<float> original(5);
  CHECK_FALSE(original.load(good));
  for (std::size_t n = 0; n < good.size(); ++n) {
    Bytes bytes = good;
    bytes[n] ^= std::byte{0x08};
    mend_crcs(bytes);
    TinyRun<float> run(5);
    if (!run.load(bytes)) CHECK_EQUAL(original.digest(), run.digest());
  }
}

TEST(HostileCheckpoint, WithoutAHeader) {
  const Bytes good = good_checkpoint();
  Bytes bytes = {std::byte{5}, std::byte{15 << 3 | 5}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}};
  bytes.insert(bytes.end(), good.begin(), good.end());
  mend_crcs(bytes);
  Victim victim;
  const Fault f = victim.refuse(bytes);
  CHECK_TRUE(f.kind == FaultKind::bad_order);
  CHECK_EQUAL(0u, f.record);
  victim.check_unchanged();
}

TEST(HostileCheckpoint, ASourceThatFailsAtEveryRead) {
  const Bytes good = good_checkpoint();
  struct Failing {
    const Bytes* bytes;
    std::int64_t reads_left;
  };
  const auto read = [](void* self, std::uint64_t offset, std::span<std::byte> to) {
    auto& f = *static_cast<Failing*>(self);
    if (f.reads_left-- <= 0) return false;
    std::memcpy(to.data(), f.bytes->data() + offset, to.size());
    return true;
  };
  TinyRun<float> run(5);
  run.go_on(7);
  const Bytes before = run.save();
  for (std::int64_t n = 0;; ++n) {
    Failing failing{&good, n};
    struct : CheckpointHandler {
    } ignore;
    const Fault f = read_checkpoint({&failing, read, good.size()}, ignore);
    if (!f) break;
    CHECK_TRUE(f.kind == FaultKind::read_failed);
    failing.reads_left = n;
    CHECK_TRUE(load_training(run.machine(), {&failing, read, good.size()}, run.state).kind == FaultKind::read_failed);
  }
  CHECK_TRUE(run.save() == before);
}

TEST(HostileCheckpoint, ALaterFormatIsRefused) {
  TinyRun<float> run(3);
  run.go_on(10);
  CheckpointHeader h = header_of(run.state);
  h.format_version = kFormatVersion + 1;
  Bytes bytes;
  CheckpointWriter writer(sink_to(bytes));
  CHECK_FALSE(writer.header(h));
  CHECK_FALSE(writer.commit());
  Victim victim;
  const Fault f = victim.refuse(bytes);
  CHECK_TRUE(f.kind == FaultKind::unsupported_format);
  CHECK_EQUAL(kFormatVersion, f.expected);
  CHECK_EQUAL(kFormatVersion + 1, f.found);
  victim.check_unchanged();
}
