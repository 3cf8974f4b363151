/// Arenas in two regions of RAM: every tensor in one of them, nothing over another, the same bits.

#include <memory>

#include "core/train/trainer.hpp"
#include "models/pocket.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble;

namespace {

constexpr const auto& kTape = tape_of<Pocket>;

PlanSet<kTape.size> plans_with(std::int64_t second_bytes, bool fuse_update) {
  PlanOptions o{Pocket::kExtent, 1, 4, 2, true, fuse_update};
  o.second_region_bytes = second_bytes;
  return make_plan_set(kTape, keep_block_inputs(kTape), o);
}

template <int N>
void check_plan(const Plan<N>& plan, std::int64_t second_bytes) {
  std::array<Interval, std::size_t(Plan<N>::kMaxTensors)> intervals = {};
  std::array<std::int64_t, std::size_t(Plan<N>::kMaxTensors)> offsets = {};
  std::int64_t end[2] = {};
  for (int i = 0; i < plan.tensor_count; ++i) {
    const Tensor& t = plan.tensors[std::size_t(i)];
    intervals[std::size_t(i)] = {t.first, t.last, t.bytes};
    offsets[std::size_t(i)] = t.offset;
    const int region = t.offset >= kSecondRegion;
    const std::int64_t tensor_end = t.offset - region * kSecondRegion + t.bytes;
    end[region] = std::max(end[region], tensor_end);
  }
  CHECK(first_overlap(intervals, offsets, plan.tensor_count).none());
  for (int r = 0; r < 2; ++r) {
    CHECK(end[r] <= plan.region[r].persistent_bytes + plan.region[r].transient_bytes);
  }
  CHECK(end[1] <= second_bytes);
}

template <TrainerOptions options>
std::uint64_t train() {
  using Machine = Trainer<Pocket, Simd<float, Plain<Profile::fused>>, options>;
  const auto second = std::make_unique<typename Machine::SecondPart>();
  const auto trainer = std::make_unique<Machine>(*second);
  trainer->initialise(3);
  for (int step = 0; step < 3; ++step) {
    std::int32_t ids[32];
    for (int i = 0; i < 32; ++i) ids[i] = (7 * i + step) % 96;
    UpdateResult r;
    CHECK(trainer->train_step(ids, ids, {1, 32}, Pocket::kTraining, r) == Status::ok);
    const float* logits = nullptr;
    CHECK(trainer->decode(5, 0, logits) == Status::ok);
  }
  return trainer->digest();
}

}  // namespace

TEST_GROUP(Regions) {};

TEST(Regions, NothingLiesOverAnotherAndNothingIsSplit) {
  const std::int64_t alone = plans_with(0, false).arena_bytes();
  for (const bool fuse_update : {false, true}) {
    for (const std::int64_t bytes : {0, 63, 64, 1000, 8192, 57344, 65536, 150'000, 1'000'000}) {
      const auto plans = plans_with(bytes, fuse_update);
      check_plan(plans.train, bytes);
      check_plan(plans.evaluate, bytes);
      check_plan(plans.decode, bytes);
      CHECK(plans.region_bytes(1) <= bytes);
      if (bytes <= 8192) CHECK(plans.region_bytes(0) <= alone - bytes / 64 * 64 + 64);
      if (bytes == 1'000'000) LONGS_EQUAL(0, plans.region_bytes(0));
    }
  }
}

TEST(Regions, ThePlansOfAModelAgreeOnWhatPersists) {
  const auto plans = plans_with(57344, false);
  for (int i = 0; i < plans.train.tensor_count; ++i) {
    const Tensor &t = plans.train.tensors[std::size_t(i)], &e = plans.evaluate.tensors[std::size_t(i)];
    if (t.kind == TensorKind::output) break;
    LONGS_EQUAL(t.offset, e.offset);
    LONGS_EQUAL(t.offset, plans.decode.tensors[std::size_t(i)].offset);
  }
}

TEST(Regions, TheSecondOneIsUsedWhereTheFirstIsTooSmall) {
  constexpr TrainerOptions one{
      .extent = {1, 32}, .recompute = "blocks", .budget_bytes = 200'000, .second_budget_bytes = 57'344};
  constexpr TrainerOptions two{
      .extent = {1, 32}, .recompute = "blocks", .budget_bytes = 129'024, .second_budget_bytes = 57'344};
  using S = Simd<float, Plain<Profile::fused>>;
  static_assert(!Trainer<Pocket, S, one>::uses_second_region);
  static_assert(Trainer<Pocket, S, two>::uses_second_region);
  static_assert(sizeof(Trainer<Pocket, S, two>) < 130'000);
  CHECK_EQUAL(train<one>(), train<two>());
}
