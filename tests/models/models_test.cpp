/// The shipped models: plans without a gap, and bits that depend on nothing but the arithmetic.

#include <cmath>

#include "core/train/trainer.hpp"
#include "models/gpt2_small.hpp"
#include "tools/gradient/report.hpp"
#include "tools/train/token_batch.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble;

namespace {

constexpr const auto& kGpt2 = tape_of<Gpt2Small>;
constexpr PlanOptions kGpt2Options{{1, 256}, 1, 4, 2, true};
static_assert(make_plan(kGpt2, training_walk(kGpt2, keep_all(kGpt2)), kGpt2Options, op_scratch_bytes).gap_bytes() == 0);
static_assert(make_plan(kGpt2, training_walk(kGpt2, keep_all_but_elements(kGpt2)), kGpt2Options, op_scratch_bytes)
                  .gap_bytes() == 0);
static_assert(make_plan(kGpt2, training_walk(kGpt2, keep_block_inputs(kGpt2)), kGpt2Options, op_scratch_bytes)
                  .gap_bytes() == 0);

// The list of models lives as long as the program: it must not count as a leak of the first test that asks.
const bool kRegistered = !all_models().empty();

const std::string kList = "embed,h.*.in,h.*.qkv,h.*.out,act,*history";

struct Run {
  std::optional<Isa> isa = std::nullopt;
  int threads = 1;
  std::string recompute = "none";
  Profile profile = Profile::fused;
  bool fuse_update = false;
  int moments = 2;
};

template <class real>
Session<real> open(const std::string& model, const Run& run, const Extent& extent) {
  SessionOptions o;
  o.extent = extent;
  o.isa = run.isa;
  o.threads = run.threads;
  o.recompute = run.recompute;
  o.profile = run.profile;
  o.fuse_update = run.fuse_update;
  o.moments = run.moments;
  return Session<real>(find_model(model), o);
}

/// Digest of the weights after a few steps, each of two micro-batches of different length.
template <class real>
std::uint64_t train(const std::string& name, const Run& run) {
  const Model& model = find_model(name);
  const Extent extent{3, std::min(model.context_limit(), 20)};
  Session<real> session = open<real>(name, run, extent);
  session.engine().initialise(5);
  TrainOptions o;
  o.optimizer = {.weight_decay = 0.1, .clip = 0.5};
  o.schedule = {.kind = ScheduleKind::linear, .peak = 1e-2, .warmup_steps = 2, .total_steps = 4};
  for (std::uint64_t step = 0; step < 4; ++step) {
    for (const Extent& e : {extent, Extent{2, extent.context - 3}}) {
      const TokenBatch b = random_batch(model, e, 10 * step + std::uint64_t(e.batch));
      CHECK(session.engine().accumulate(b.tokens, b.targets, e) == Status::ok);
    }
    CHECK(session.engine().update(o).status == Status::ok);
  }
  return session.engine().digest();
}

template <class real>
void check_same_bits(const std::string& model) {
  const std::uint64_t plain = train<real>(model, {Isa::plain, 1, "none"});
  for (Isa isa : {Isa::avx2, Isa::avx512}) {
    if (!can_run(isa) || find_model(model).f32.by_isa[int(isa)] == nullptr) continue;
    CHECK_EQUAL_TEXT(plain, train<real>(model, {isa, 1, "none"}), model.c_str());
    CHECK_EQUAL_TEXT(plain, train<real>(model, {isa, 2, "blocks"}), model.c_str());
  }
  CHECK_EQUAL_TEXT(plain, train<real>(model, {Isa::plain, 2, "none"}), model.c_str());
  CHECK_EQUAL_TEXT(plain, train<real>(model, {std::nullopt, 3, "none"}), model.c_str());
  CHECK_EQUAL_TEXT(plain, train<real>(model, {std::nullopt, 1, "blocks"}), model.c_str());
  CHECK_EQUAL_TEXT(plain, train<real>(model, {std::nullopt, 2, "elements"}), model.c_str());
}

/// What a few steps of one micro-batch each leave behind, the last with no target that counts.
struct Trained {
  std::uint64_t digest = 0;
  std::vector<double> norms;
  std::vector<double> losses;
};

template <class real>
Trained train_step_by_step(const std::string& name, const Run& run) {
  const Model& model = find_model(name);
  const Extent extent{2, std::min(model.context_limit(), 20)};
  Session<real> session = open<real>(name, run, model.takes_tokens() ? extent : Extent{});
  session.engine().initialise(5);
  TrainOptions o;
  o.optimizer.weight_decay = 0.1;
  if (run.moments < 2) o.optimizer.kind = OptimizerKind::sgd;
  if (run.moments < 1) o.optimizer.momentum = 0;
  o.schedule = {.kind = ScheduleKind::linear, .peak = 1e-2, .warmup_steps = 2, .total_steps = 5};
  Trained t;
  for (std::uint64_t step = 0; step < 5; ++step) {
    const Extent e = model.takes_tokens() ? Extent{1 + int(step % 2), extent.context - int(step)} : Extent{};
    TokenBatch b = model.takes_tokens() ? random_batch(model, e, step) : TokenBatch{};
    if (step == 4) std::fill(b.targets.begin(), b.targets.end(), kIgnoredTarget);
    UpdateResult r;
    CHECK(session.engine().train_step(b.tokens, b.targets, e, o, r) == Status::ok);
    CHECK(r.status == Status::ok);
    t.norms.push_back(r.gradient_norm);
    t.losses.push_back(r.loss);
  }
  LONGS_EQUAL(5, session.engine().step());
  t.digest = session.engine().digest();
  return t;
}

template <class real>
void check_fused_bits(const std::string& model, int moments) {
  const Trained plain = train_step_by_step<real>(model, {Isa::plain, 1, "none", Profile::fused, false, moments});
  for (const auto& [threads, schedule] : {std::pair{1, "none"}, std::pair{2, "blocks"}}) {
    const Trained fused =
        train_step_by_step<real>(model, {std::nullopt, threads, schedule, Profile::fused, true, moments});
    CHECK_EQUAL_TEXT(plain.digest, fused.digest, model.c_str());
    CHECK_TEXT(plain.norms == fused.norms && plain.losses == fused.losses, model.c_str());
  }
}

const char* const kTrained[] = {"microgpt", "decoder", "pocket", "char", "mlp"};

/// Its value is 0 and the gradient of its last weight too, but that of its bias overflows.
struct Overflowing {
  static constexpr void build(TapeBuilder& t) {
    const ValueId x = t.input("x", Shape::matrix(1, 16), Init::constant(0));
    const ValueId w = t.parameter("w", Shape::matrix(16, 16), Init::constant(1));
    const ValueId b = t.parameter("b", Shape::vector(16), Init::constant(0));
    const ValueId huge = t.parameter("huge", Shape::matrix(16, 16), Init::constant(1e30));
    sum(t, "sum", tanh(t, "y", linear(t, "pre_y", tanh(t, "a", linear(t, "pre_a", x, w, b)), huge, kNoValue)));
  }
};

template <class real>
double loss_of(Session<real>& s, const TokenBatch& b) {
  double sum = 0;
  std::int64_t valid = 0;
  CHECK(s.engine().evaluate(b.tokens, b.targets, b.extent, sum, valid) == Status::ok);
  return valid > 0 ? sum / double(valid) : 0;
}

}  // namespace

TEST_GROUP(Models) {
  void setup() override { CHECK(kRegistered); }
};

TEST(Models, NoPlanHasAGap) {
  for (const Model& m : all_models()) {
    for (const char* const schedule : {"none", "elements", "blocks"}) {
      for (const Extent& extent : {m.extent, Extent{4, std::min(64, m.context_limit())}, Extent{1, 1}}) {
        for (int variant = 0; variant < 4; ++variant) {
          const PlanOptions options{m.takes_tokens() ? extent : Extent{}, 1 + variant % 2, 4, 2, true, variant >= 2};
          for (ProgramKind p : {ProgramKind::train, ProgramKind::evaluate, ProgramKind::decode}) {
            if (p == ProgramKind::decode && !generates(m.tape)) continue;
            LONGS_EQUAL_TEXT(0, m.plan(p, schedule, options).gap_bytes(), m.name.c_str());
          }
        }
      }
    }
  }
}

TEST(Models, OneDigestForAllInstructionSetsThreadsAndSchedules) {
  for (const char* name : kTrained) {
    check_same_bits<float>(name);
    check_same_bits<double>(name);
  }
}

TEST(Models, FusedUpdatesChangeNoBit) {
  for (const char* name : {"microgpt", "decoder", "pocket", "char", "mlp", "neuron", "plain_stack", "residual_stack"}) {
    check_fused_bits<float>(name, 2);
    check_fused_bits<double>(name, 1);
  }
  check_fused_bits<float>("microgpt", 0);
  CHECK(train_step_by_step<float>("decoder", {std::nullopt, 1, "none", Profile::separate, false}).digest ==
        train_step_by_step<float>("decoder", {std::nullopt, 2, "blocks", Profile::separate, true}).digest);
}

TEST(Models, FusedUpdatesRefuseWhatNeedsAllGradients) {
  Session<float> session = open<float>("decoder", {.fuse_update = true}, {1, 9});
  Engine<float>& e = session.engine();
  e.initialise(1);
  const std::uint64_t before = e.digest();
  const TokenBatch b = random_batch(find_model("decoder"), {1, 9}, 1);
  TrainOptions o;
  UpdateResult r;
  CHECK(e.accumulate(b.tokens, b.targets, b.extent) == Status::needs_gradients);
  o.optimizer.clip = 1;
  CHECK(e.train_step(b.tokens, b.targets, b.extent, o, r) == Status::needs_gradients);
  o.optimizer.clip = 0;
  CHECK(e.train_step(b.tokens, b.targets, {2, 9}, o, r) == Status::extent_out_of_range);
  CHECK_EQUAL(before, e.digest());
  CHECK(e.train_step(b.tokens, b.targets, b.extent, o, r) == Status::ok && r.status == Status::ok);
  CHECK(before != e.digest());
}

TEST(Models, AFusedUpdateOfALossThatIsNotFiniteChangesNothing) {
  for (const int threads : {1, 2}) {
    Session<float> session = open<float>("decoder", {.threads = threads, .fuse_update = true}, {1, 9});
    Engine<float>& e = session.engine();
    e.initialise(1);
    const TokenBatch b = random_batch(find_model("decoder"), {1, 9}, 1);
    const auto weight = e.weight(session.prepared().parameters[4]);
    const float good = weight[0];
    weight[0] = INFINITY;
    const std::uint64_t before = e.digest();
    UpdateResult r;
    CHECK(e.train_step(b.tokens, b.targets, b.extent, {}, r) == Status::ok);
    CHECK(r.status == Status::non_finite_loss);
    CHECK_EQUAL(before, e.digest());
    CHECK_FALSE(e.torn());
    LONGS_EQUAL(0, e.step());
    weight[0] = good;
    CHECK(e.train_step(b.tokens, b.targets, b.extent, {}, r) == Status::ok && r.status == Status::ok);
    LONGS_EQUAL(1, e.step());
  }
}

TEST(Models, AFusedUpdateThatIsCutShortSaysSo) {
  Trainer<Overflowing, Simd<float, Plain<Profile::fused>>, {.extent = {}, .fuse_update = true}> trainer;
  trainer.initialise(1);
  UpdateResult r;
  CHECK(trainer.train_step({}, {}, {}, {}, r) == Status::ok);
  CHECK(r.status == Status::torn_update);
  CHECK(trainer.torn());
  LONGS_EQUAL(0, trainer.step());
  CHECK(trainer.train_step({}, {}, {}, {}, r) == Status::torn_update);
  trainer.initialise(1);
  CHECK_FALSE(trainer.torn());
}

TEST(Models, AListOfKeptValuesChangesNoBit) {
  CHECK_EQUAL(train<float>("decoder", {std::nullopt, 1, "none"}),
              train<float>("decoder", {std::nullopt, 1, "embed,h.*.qkv,h.1.act"}));
  CHECK_EQUAL(train<float>("decoder", {std::nullopt, 1, "none"}),
              train<float>("decoder", {std::nullopt, 1, "h.0.ln_1"}));
}

TEST(Models, ProfilesDifferAndEachRepeatsItself) {
  const std::uint64_t separate = train<float>("decoder", {std::nullopt, 1, "none", Profile::separate});
  CHECK_EQUAL(separate, train<float>("decoder", {std::nullopt, 2, "blocks", Profile::separate}));
  CHECK(separate != train<float>("decoder", {std::nullopt, 1, "none"}));
}

TEST(Models, GeneratingATokenAtATimeGivesTheLossesOfTheWholePass) {
  for (const char* name : kTrained) {
    const Model& model = find_model(name);
    const int context = std::min(model.context_limit(), 24);
    Session<float> session = open<float>(name, {}, {1, context});
    session.engine().initialise(3);
    const TokenBatch b = random_batch(model, {1, context}, 4);
    std::vector<std::vector<float>> logits;
    for (int t = 0; t < context; ++t) {
      const float* row = nullptr;
      CHECK(session.engine().decode(b.tokens[std::size_t(t)], t, row) == Status::ok);
      logits.emplace_back(row, row + model.vocabulary());
    }
    const float* row = nullptr;
    CHECK(session.engine().decode(0, context, row) == Status::context_full);
    loss_of(session, b);
    for (int t = 0; t < context; ++t) {
      // The loss of the whole pass from the logits of generation.
      const float loss = session.engine().evaluated_result()[t];
      double top = -INFINITY, sum = 0;
      for (float x : logits[std::size_t(t)]) top = std::max(top, double(x));
      for (float x : logits[std::size_t(t)]) sum += std::exp(double(x) - top);
      const double expected = std::log(sum) + top - double(logits[std::size_t(t)][std::size_t(b.targets[std::size_t(t)])]);
      DOUBLES_EQUAL(expected, loss, 2e-5);
    }
  }
}

TEST(Models, MicroBatchesOfDifferentLengthMakeOneMean) {
  Session<double> session = open<double>("decoder", {}, {2, 9});
  session.engine().initialise(1);
  const Model& model = find_model("decoder");
  const TokenBatch a = random_batch(model, {2, 9}, 1), b = random_batch(model, {1, 4}, 2);
  const double expected = (loss_of(session, a) * 18 + loss_of(session, b) * 4) / 22;
  CHECK(session.engine().accumulate(a.tokens, a.targets, a.extent) == Status::ok);
  CHECK(session.engine().accumulate(b.tokens, b.targets, b.extent) == Status::ok);
  const UpdateResult r = session.engine().update(model.training);
  LONGS_EQUAL(22, r.valid);
  DOUBLES_EQUAL(expected, r.loss, 1e-14);
}

TEST(Models, AllTargetsIgnoredGivesNothing) {
  Session<float> session = open<float>("decoder", {}, {1, 9});
  session.engine().initialise(1);
  TokenBatch b = random_batch(find_model("decoder"), {1, 9}, 1);
  std::fill(b.targets.begin(), b.targets.end(), kIgnoredTarget);
  const GradientReport report = report_gradients(session, std::span<const std::int32_t>(b.tokens),
                                                 std::span<const std::int32_t>(b.targets), b.extent);
  DOUBLES_EQUAL(0, report.loss, 0);
  LONGS_EQUAL(0, report.valid);
  for (const NamedTensor& w : report.weights) {
    for (double g : w.data) DOUBLES_EQUAL(0, g, 0);
  }
}

TEST(Models, ASequenceOfOneTokenTrains) {
  Session<float> session = open<float>("pocket", {}, {1, 32});
  session.engine().initialise(1);
  const TokenBatch b = random_batch(find_model("pocket"), {1, 1}, 1);
  double first = 0, last = 0;
  for (int i = 0; i < 30; ++i) {
    CHECK(session.engine().accumulate(b.tokens, b.targets, b.extent) == Status::ok);
    last = session.engine().update({.optimizer = {}, .schedule = {.peak = 1e-2}}).loss;
    if (i == 0) first = last;
  }
  CHECK(last < 0.5 * first);
}

TEST(Models, WhatDoesNotFitIsRefusedAndChangesNothing) {
  Session<float> session = open<float>("decoder", {}, {1, 9});
  Engine<float>& e = session.engine();
  e.initialise(1);
  const std::uint64_t before = e.digest();
  std::vector<std::int32_t> ids(9, 1), bad = ids, more(18, 1);
  for (std::int32_t id : {27, -1, 1 << 30}) {
    bad[4] = id;
    CHECK(e.accumulate(bad, ids, {1, 9}) == Status::token_out_of_range);
  }
  bad[4] = -2;
  CHECK(e.accumulate(ids, bad, {1, 9}) == Status::token_out_of_range);
  CHECK(e.accumulate(more, more, {2, 9}) == Status::extent_out_of_range);
  CHECK(e.accumulate(ids, ids, {9, 1}) == Status::extent_out_of_range);
  CHECK(e.accumulate({}, {}, {0, 9}) == Status::extent_out_of_range);
  CHECK_EQUAL(before, e.digest());
}

TEST(Models, ANonFiniteGradientIsRejectedAndTheWeightsStay) {
  Session<float> session = open<float>("decoder", {}, {1, 9});
  Engine<float>& e = session.engine();
  e.initialise(1);
  const TokenBatch b = random_batch(find_model("decoder"), {1, 9}, 1);
  const auto weight = e.weight(session.prepared().parameters[4]);
  const float good = weight[0];
  weight[0] = INFINITY;
  const std::uint64_t before = e.digest();
  CHECK(e.accumulate(b.tokens, b.targets, b.extent) == Status::ok);
  CHECK(e.update(find_model("decoder").training).status != Status::ok);
  CHECK_EQUAL(before, e.digest());
  LONGS_EQUAL(0, e.step());
  weight[0] = good;
  CHECK(e.accumulate(b.tokens, b.targets, b.extent) == Status::ok);
  CHECK(e.update(find_model("decoder").training).status == Status::ok);
  LONGS_EQUAL(1, e.step());
}

TEST(Models, TheGradientFadesInThePlainStackAndNotInTheResidualOne) {
  for (const auto& [name, low, high] : {std::tuple{"plain_stack", 1e-8, 9e-8}, std::tuple{"residual_stack", 2.0, 4.0}}) {
    Session<double> session = open<double>(name, {}, {});
    session.engine().initialise(1);
    const GradientReport r = report_gradients(session, {}, {}, Extent{});
    double sum = 0;
    for (const NamedTensor& s : r.stops) {
      if (s.name != "h.0.out") continue;
      for (double x : s.data) sum += x * x;
    }
    CHECK_TEXT(std::sqrt(sum) > low && std::sqrt(sum) < high, name);
  }
}
