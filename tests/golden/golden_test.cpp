/// Whole models against torch.autograd in double precision (tests/golden/make_golden.py made the files).

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/files/safetensors.hpp"
#include "tools/gradient/report.hpp"
#include "tools/model/weights.hpp"
#include "tools/train/token_batch.hpp"

#include <CppUTest/TestHarness.h>

using namespace thimble;

namespace {

// The list of models lives as long as the program: it must not count as a leak of the first test that asks.
const bool kRegistered = !all_models().empty();

using Json = nlohmann::json;

/// Bounds relative to the largest entry of a tensor. Float: 2^-24 through some hundred operations.
template <class real>
constexpr double kGradientBound = sizeof(real) == 8 ? 1e-13 : 2e-5;
template <class real>
constexpr double kLossBound = sizeof(real) == 8 ? 1e-11 : 1e-4;
constexpr double kWeightBound = 1e-10;  // after 20 steps, double

std::string folder(const std::string& name) { return std::string(THIMBLE_SOURCE_DIR) + "/tests/golden/" + name; }

struct Case {
  explicit Case(const std::string& name, const std::string& model)
      : name(name), model(find_model(model)), json(Json::parse(std::ifstream(folder(name) + "/case.json"))) {}

  /// The batch of one step: windows [row][T + 1], or tokens and targets apart.
  TokenBatch batch(std::size_t step) const {
    if (json.contains("documents")) return document(step);
    const auto rows = json["tokens"][step].get<std::vector<std::vector<std::int32_t>>>();
    if (!json.contains("targets")) {
      TokenList list{1, rows.size(), rows[0].size(), {}};
      for (const auto& r : rows) list.ids.insert(list.ids.end(), r.begin(), r.end());
      return batch_of(list, 0);
    }
    const auto targets = json["targets"][step].get<std::vector<std::vector<std::int32_t>>>();
    TokenBatch b{{std::int32_t(rows.size()), std::int32_t(targets[0].size())}, {}, {}};
    for (std::size_t r = 0; r < rows.size(); ++r) {
      b.tokens.insert(b.tokens.end(), rows[r].begin(), rows[r].begin() + std::ptrdiff_t(targets[r].size()));
      b.targets.insert(b.targets.end(), targets[r].begin(), targets[r].end());
    }
    return b;
  }

  TokenBatch document(std::size_t step) const {
    const std::string word = json["documents"][step];
    const std::int32_t bos = json["bos"];
    TokenList list{1, 1, word.size() + 2, {bos}};
    for (char c : word) list.ids.push_back(c - 'a');
    list.ids.push_back(bos);
    return batch_of(list, 0);
  }

  std::string name;
  const Model& model;
  Json json;
};

template <class real>
Session<real> make_session(const Case& c, int moments = 2, const std::string& recompute = "none") {
  SessionOptions o;
  o.extent = c.model.extent;
  o.moments = moments;
  o.recompute = recompute;
  return Session<real>(c.model, o);
}

/// The largest difference, relative to the largest golden entry.
double worst_difference(std::span<const double> ours, std::span<const double> golden) {
  double largest = 0, worst = 0;
  for (double g : golden) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < golden.size(); ++i) worst = std::max(worst, std::abs(ours[i] - golden[i]));
  return largest > 0 ? worst / largest : worst;
}

std::vector<double> golden_tensor(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* const t = file.find(name);
  CHECK_TEXT(t != nullptr, name.c_str());
  std::vector<double> x(t->element_count());
  file.read_into<double>(*t, x);
  return x;
}

void check_close(const std::string& what, std::span<const double> ours, std::span<const double> golden,
                 double bound) {
  LONGS_EQUAL_TEXT(golden.size(), ours.size(), what.c_str());
  const double d = worst_difference(ours, golden);
  const std::string text = what + " differs by " + std::to_string(d / bound) + " times the bound";
  CHECK_TEXT(d <= bound, text.c_str());
}

/// In theory the gradient of the key bias is zero; what is left is rounding noise, and Adam makes steps of it.
/// Softmax does not see the shift, so nothing else depends on it.
void blank_key_bias(const std::string& name, std::vector<double>& x) {
  if (!name.ends_with("attn.c_attn.bias")) return;
  const std::size_t width = x.size() / 3;
  std::fill(x.begin() + std::ptrdiff_t(width), x.begin() + std::ptrdiff_t(2 * width), 0.0);
}

template <class real>
void check_gradients(const std::string& name, const std::string& model) {
  const Case c(name, model);
  auto session = make_session<real>(c);
  load_weights(session, SafetensorsFile(folder(name) + "/weights.safetensors"));
  const TokenBatch b = c.batch(0);
  const GradientReport report = report_gradients(session, std::span<const std::int32_t>(b.tokens),
                                                 std::span<const std::int32_t>(b.targets), b.extent);
  const double golden_loss = c.json["loss"];
  DOUBLES_EQUAL(golden_loss, report.loss, kLossBound<real> * golden_loss);
  std::vector<double> positions;
  for (const auto& row : c.json["loss_per_position"]) {
    for (double x : row) positions.push_back(x);
  }
  check_close("loss per position", report.loss_per_position, positions, kGradientBound<real>);

  const SafetensorsFile golden(folder(name) + "/grads.safetensors");
  std::size_t compared = 0;
  for (const NamedTensor& w : report.weights) {
    std::vector<double> ours = w.data, theirs = golden_tensor(golden, w.name);
    blank_key_bias(w.name, ours);
    blank_key_bias(w.name, theirs);
    check_close(name + " " + w.name, ours, theirs, kGradientBound<real>);
    ++compared;
  }
  for (const NamedTensor& s : report.stops) {
    if (golden.find("stop." + s.name) == nullptr) continue;
    check_close(name + " stop " + s.name, s.data, golden_tensor(golden, "stop." + s.name), kGradientBound<real>);
    ++compared;
  }
  std::size_t expected = 0;
  for (const StoredTensor& t : golden.tensors()) expected += t.name != "influence";
  LONGS_EQUAL(expected, compared);
}

TrainOptions options_of(const Json& run, bool sgd) {
  TrainOptions o;
  o.optimizer.kind = sgd ? OptimizerKind::sgd : OptimizerKind::adamw;
  if (!sgd) {
    o.optimizer.beta1 = run["betas"][0];
    o.optimizer.beta2 = run["betas"][1];
    o.optimizer.epsilon = run["eps"];
  } else {
    o.optimizer.momentum = run["momentum"];
  }
  o.optimizer.weight_decay = run["weight_decay"];
  o.optimizer.clip = run["clip"];
  o.schedule = {.kind = ScheduleKind::cosine, .peak = run["peak"], .floor = run["floor"],
                .warmup_steps = run["warm"], .total_steps = run["steps"]};
  return o;
}

template <class real>
void check_run(const std::string& name, const std::string& model, bool sgd) {
  const Case c(name, model);
  const Json& run = c.json[sgd ? "sgd" : "adamw"];
  const TrainOptions options = options_of(run, sgd);
  auto session = make_session<real>(c, options.optimizer.moments());
  load_weights(session, SafetensorsFile(folder(name) + "/weights.safetensors"));
  session.engine().reset_optimizer();
  for (std::size_t step = 0; step < run["losses"].size(); ++step) {
    const TokenBatch b = c.batch(step);
    CHECK(session.engine().accumulate(b.tokens, b.targets, b.extent) == Status::ok);
    const UpdateResult r = session.engine().update(options);
    CHECK(r.status == Status::ok);
    const double loss = run["losses"][step], rate = run["lrs"][step], norm = run["grad_norms"][step];
    DOUBLES_EQUAL(loss, r.loss, kLossBound<real> * loss);
    DOUBLES_EQUAL(rate, r.learning_rate, 1e-15 * rate);
    if (sizeof(real) == 8) DOUBLES_EQUAL(norm, r.gradient_norm, 1e-11 * norm);
  }
  if (sizeof(real) == 4) return;
  const std::string file = folder(name) + (sgd ? "/after_sgd.safetensors" : "/after.safetensors");
  if (!std::ifstream(file)) return;  // not every case keeps its last weights
  const SafetensorsFile golden(file);
  for (const ParameterSlots& p : session.prepared().parameters) {
    const std::string w(session.name_of(p));
    const auto x = session.engine().weight(p);
    std::vector<double> ours(x.begin(), x.end()), theirs = golden_tensor(golden, w);
    blank_key_bias(w, ours);
    blank_key_bias(w, theirs);
    for (std::size_t i = 0; i < theirs.size(); ++i) DOUBLES_EQUAL_TEXT(theirs[i], ours[i], kWeightBound, w.c_str());
  }
}

template <class real>
void check_documents(const std::string& name, const std::string& model) {
  const Case c(name, model);
  auto session = make_session<real>(c);
  load_weights(session, SafetensorsFile(folder(name) + "/weights.safetensors"));
  session.engine().reset_optimizer();
  const Json& adam = c.json["adam"];
  TrainOptions o;
  o.optimizer = {.beta1 = adam["betas"][0], .beta2 = adam["betas"][1], .epsilon = adam["eps"]};
  o.schedule = {.kind = ScheduleKind::linear, .peak = adam["lr"], .total_steps = std::int64_t(c.json["losses"].size())};
  for (std::size_t step = 0; step < c.json["losses"].size(); ++step) {
    const TokenBatch b = c.batch(step);
    CHECK(session.engine().accumulate(b.tokens, b.targets, b.extent) == Status::ok);
    const double loss = c.json["losses"][step];
    DOUBLES_EQUAL(loss, session.engine().update(o).loss, kLossBound<real> * loss);
  }
}

}  // namespace

TEST_GROUP(Golden) {
  void setup() override { CHECK(kRegistered); }
};

TEST(Golden, GradientsAndStopsAreThoseOfTorchInDouble) {
  for (const char* name : {"layernorm_tanh", "layernorm_erf", "rms_documents", "rms_gain", "ignored_targets"}) {
    check_gradients<double>(name, name);
  }
  check_gradients<double>("mlp", "mlp_golden");
}

TEST(Golden, GradientsAndStopsAreThoseOfTorchInFloat) {
  for (const char* name : {"layernorm_tanh", "layernorm_erf", "rms_documents", "rms_gain", "ignored_targets"}) {
    check_gradients<float>(name, name);
  }
  check_gradients<float>("mlp", "mlp_golden");
}

TEST(Golden, TwentyStepsOfAdamwEndWhereTorchEnds) {
  for (const char* name : {"layernorm_tanh", "layernorm_erf", "rms_gain", "ignored_targets"}) {
    check_run<double>(name, name, false);
    check_run<float>(name, name, false);
  }
  check_run<double>("mlp", "mlp_golden", false);
  check_run<float>("mlp", "mlp_golden", false);
}

TEST(Golden, TwentyStepsOfSgdEndWhereTorchEnds) {
  check_run<double>("mlp", "mlp_golden", true);
  check_run<float>("mlp", "mlp_golden", true);
}

TEST(Golden, AHundredDocumentsGiveTorchsLosses) {
  check_documents<double>("rms_documents", "rms_documents");
  check_documents<float>("rms_documents", "rms_documents");
}
