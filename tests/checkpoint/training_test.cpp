/// A run that is saved and loaded goes on as if it had never stopped, whatever is done to it in between.

#include <memory>

#include "models/gpt_message.hpp"
#include "tests/checkpoint/tiny_run.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble_test;

namespace {

template <class real, OptimizerKind kind>
void check_resume(ScheduleKind schedule, int micro_batches_before) {
  TinyRun<real, kind> whole(3, schedule), first(3, schedule), second(99, schedule);
  whole.go_on(60);
  first.go_on(micro_batches_before);
  CHECK_FALSE(second.load(first.save()));
  second.go_on(60 - micro_batches_before);
  CHECK_EQUAL(whole.digest(), second.digest());
  CHECK_EQUAL(20, second.machine().step());
  CHECK_EQUAL(60u, second.state.data_cursor);
  CHECK_EQUAL(whole.state.tokens, second.state.tokens);
  CHECK_TRUE(whole.state.running_loss == second.state.running_loss);
  CHECK_TRUE(second.save() == whole.save());
}

}  // namespace

TEST_GROUP(TrainingCheckpoint) {};

TEST(TrainingCheckpoint, GoesOnBetweenSteps) {
  for (const ScheduleKind s : {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd}) {
    check_resume<float, OptimizerKind::adamw>(s, 21);
    check_resume<float, OptimizerKind::sgd>(s, 21);
  }
  check_resume<double, OptimizerKind::adamw>(ScheduleKind::cosine, 21);
}

TEST(TrainingCheckpoint, GoesOnInTheMiddleOfAWindow) {
  for (const int before : {0, 1, 2, 22, 23, 59, 60}) {
    check_resume<float, OptimizerKind::adamw>(ScheduleKind::cosine, before);
    check_resume<double, OptimizerKind::sgd>(ScheduleKind::wsd, before);
  }
}

TEST(TrainingCheckpoint, TakesWhatThePlanSays) {
  const CheckpointNote notes[] = {{"tokenizer", "abc"}, {"data", ""}};
  constexpr std::uint64_t note_bytes = metadata_record_bytes("tokenizer", 3) + metadata_record_bytes("data", 0);
  TinyRun<float> run;
  run.go_on(31);
  constexpr std::uint64_t most =
      most_checkpoint_bytes(tape_of<TinyGpt>, kNumberTypeOf<float>, 2, true, note_bytes);
  constexpr std::uint64_t fixed = most - kHeaderRecordBytes - kCommitRecordBytes;
  const std::uint64_t got = run.save(notes).size();
  CHECK_TRUE(got <= most);
  CHECK_TRUE(got > fixed);  // only header and commit vary
  // Every varint at its longest.
  run.state.seed = run.state.data_cursor = run.state.tokens = ~std::uint64_t(0);
  CHECK_TRUE(run.save(notes).size() <= most);
}

TEST(TrainingCheckpoint, GivesWeightsToAnyOptimizer) {
  TinyRun<float> from(3);
  from.go_on(9);
  TinyRun<float, OptimizerKind::sgd> to(4);
  to.go_on(3);
  CHECK_FALSE(to.load(from.save(), LoadWhat::weights));
  CHECK_EQUAL(from.digest(), to.digest());
  CHECK_EQUAL(1, to.machine().step());
}

TEST(TrainingCheckpoint, RefusesWhatIsNotItsOwn) {
  TinyRun<float> run(3);
  run.go_on(4);
  const Bytes good = run.save();
  const std::uint64_t digest = run.digest();

  TinyRun<float, OptimizerKind::sgd> other_optimizer(3);
  TinyRun<double> other_type(3);
  TinyRun<float> other_model(3);
  other_model.state.model = Name("another");
  TinyRun<float> other_profile(3);
  other_profile.state.profile = Profile::separate;
  struct {
    Bytes bytes;
    const char* field;
  } const cases[] = {{other_optimizer.save(), "header.tensor_count"},
                     {other_type.save(), "header.number_type"},
                     {other_model.save(), "header.model"},
                     {other_profile.save(), "header.profile"}};
  for (const auto& c : cases) {
    const Fault f = run.load(c.bytes);
    CHECK_TRUE(f.kind == FaultKind::differs);
    STRCMP_EQUAL(c.field, f.field);
    CHECK_EQUAL(0u, f.record);
    CHECK_EQUAL(digest, run.digest());
    CHECK_EQUAL(4u, run.state.data_cursor);
  }
  CHECK_FALSE(run.load(good));
}

TEST(TrainingCheckpoint, AFusedUpdateGoesOnBetweenStepsAlone) {
  using Fused = Trainer<TinyGpt, Simd<float, Plain<Profile::fused>>,
                        TrainerOptions{.extent = {2, 4}, .fuse_update = true}>;
  const auto fused = std::make_unique<Fused>();
  fused->initialise(4);
  const std::uint64_t before = fused->digest();
  TinyRun<float> run(3);
  TrainingState state = run.state;
  const auto refused_for = [&](const char* field) {
    const Fault f = load_training(*fused, source_of(run.save()), state);
    CHECK_TRUE(f.kind == FaultKind::differs);
    STRCMP_EQUAL(field, f.field);
    CHECK_EQUAL(before, fused->digest());
  };
  run.go_on(3);
  refused_for("header.progress.accumulate");
  run.state.accumulate = 1;
  refused_for("header.optimizer.clip");
  run.state.options.optimizer.clip = 0;
  run.go_on(2);
  const Bytes between = run.save();
  CHECK_FALSE(load_training(*fused, source_of(between), state));
  CHECK_EQUAL(run.digest(), fused->digest());
  Bytes again;
  CHECK_FALSE(save_training(sink_to(again), *fused, state));
  CHECK_TRUE(again == between);
}

TEST(TrainingCheckpoint, RefusesAModelOfTheSameShapesThatComputesOtherwise) {
  TinyRun<float> run(3), other(3);
  GptConfig heads = TinyGpt::kConfig;
  heads.heads = 4;
  other.state.has_gpt = run.state.has_gpt = true;
  other.state.gpt = gpt_message(heads);
  run.state.gpt = gpt_message(TinyGpt::kConfig);
  const Bytes good = run.save();
  const Fault f = run.load(other.save());
  CHECK_TRUE(f.kind == FaultKind::differs);
  STRCMP_EQUAL("header.gpt", f.field);
  CHECK_FALSE(run.load(good));
}
