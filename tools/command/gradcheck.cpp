/// thimble gradcheck: gradients against what a nudge of the weight does to the loss.

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>

#include "core/base/philox.hpp"
#include "tools/command/common.hpp"
#include "tools/exchange/formats.hpp"
#include "tools/train/token_batch.hpp"
#include "tools/model/weights.hpp"

namespace thimble {

namespace {

struct GradcheckFlags {
  CommonFlags common;
  LayoutFlags layout;
  std::string model;
  std::string weights;
  std::string tokens;
  std::int64_t samples = 552;
  std::string weight;
  std::int64_t index = 0;
  double nudge = 0;
  double tolerance = 0;
};

/// One weight: the gradient by backpropagation and by central difference.
struct Probe {
  std::string weight;
  std::int64_t index = 0;
  double gradient = 0;
  double difference = 0;
  double error() const { return std::abs(gradient - difference); }
};

template <class real>
class GradientChecker {
 public:
  GradientChecker(Session<real>& session, const TokenBatch& batch, double nudge)
      : session_(session), batch_(batch), nudge_(nudge) {
    Engine<real>& e = session.engine();
    e.begin_window();
    require_ok(e.accumulate(batch.tokens, batch.targets, batch.extent));
    loss_ = e.mean_loss();
    valid_ = std::max(1.0, double(e.valid_in_window()));
    for (const ParameterSlots& p : parameters()) {
      const auto g = e.gradient(p);
      gradients_.emplace_back(g.begin(), g.end());
    }
  }

  double loss() const { return loss_; }
  const std::vector<ParameterSlots>& parameters() const { return session_.prepared().parameters; }

  Probe probe(std::size_t parameter, std::int64_t index) {
    const ParameterSlots& p = parameters()[parameter];
    real& w = session_.engine().weight(p)[std::size_t(index)];
    const real start = w;
    w = real(double(start) + nudge_);
    const double above = double(w);
    const double loss_above = loss_now();
    w = real(double(start) - nudge_);
    const double below = double(w);
    const double loss_below = loss_now();
    w = start;
    return {std::string(session_.name_of(p)), index, gradients_[parameter][std::size_t(index)] / valid_,
            (loss_above - loss_below) / (above - below)};
  }

 private:
  static void require_ok(Status s) {
    if (s != Status::ok) throw Error("tokens", text_of(s), "");
  }
  double loss_now() {
    double sum = 0;
    std::int64_t valid = 0;
    require_ok(session_.engine().evaluate(batch_.tokens, batch_.targets, batch_.extent, sum, valid));
    return valid > 0 ? sum / double(valid) : 0;
  }

  Session<real>& session_;
  const TokenBatch& batch_;
  double nudge_;
  double loss_ = 0;
  double valid_ = 1;
  std::vector<std::vector<real>> gradients_;
};

/// How many weights were nudged, and which of them disagrees most.
struct Findings {
  std::int64_t count = 0;
  Probe worst;

  void add(const Probe& p) {
    if (count++ == 0 || !(p.error() <= worst.error())) worst = p;
  }
};

template <class real>
Findings probe_named(GradientChecker<real>& checker, const Session<real>& session, const GradcheckFlags& flags) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < checker.parameters().size(); ++i) {
    const ParameterSlots& p = checker.parameters()[i];
    names.emplace_back(session.name_of(p));
    if (names.back() != flags.weight) continue;
    if (flags.index < 0 || flags.index >= p.count) {
      throw Error("--index", std::to_string(flags.index) + " is outside " + flags.weight,
                  "it holds " + std::to_string(p.count) + " numbers, counted from 0");
    }
    return {1, checker.probe(i, flags.index)};
  }
  throw Error("--weight", session.model().name + " has no weight " + in_quotes(flags.weight),
              did_you_mean(flags.weight, names));
}

/// How many of `samples` fall to each tensor: equal parts, but never more than it holds.
std::vector<std::int64_t> spread(std::int64_t samples, const std::vector<ParameterSlots>& parameters) {
  std::vector<std::int64_t> parts(parameters.size());
  for (bool room = true; room && samples > 0;) {
    room = false;
    const std::int64_t share = std::max<std::int64_t>(1, samples / std::int64_t(parts.size()));
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::int64_t more = std::min({share, samples, std::int64_t(parameters[p].count) - parts[p]});
      parts[p] += more;
      samples -= more;
      room = room || more > 0;
    }
  }
  return parts;
}

/// Distinct places of every tensor, drawn from the seed by Floyd's method (Bentley and Floyd, CACM 30(9), 1987).
template <class real>
Findings probe_samples(GradientChecker<real>& checker, std::int64_t samples, std::uint64_t seed) {
  Findings findings;
  const auto& parameters = checker.parameters();
  const std::vector<std::int64_t> parts = spread(samples, parameters);
  std::uint64_t draw = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t count = std::int64_t(parameters[p].count);
    std::vector<bool> taken(static_cast<std::size_t>(count));
    for (std::int64_t last = count - parts[p]; last < count; ++last) {
      std::int64_t place = std::int64_t(uniform(seed, draw++, std::uint64_t(Stream::probe)) * double(last + 1));
      if (taken[std::size_t(place)]) place = last;
      taken[std::size_t(place)] = true;
      findings.add(checker.probe(p, place));
    }
  }
  return findings;
}

template <class real>
int run(const GradcheckFlags& flags) {
  const Model& model = find_model(flags.model);
  TokenBatch batch;
  if (!flags.tokens.empty()) {
    batch = first_batch(model, flags.tokens);
  } else if (model.takes_tokens()) {
    batch = random_batch(model, flags.layout.extent_for(model), flags.common.seed);
  }
  SessionOptions options = session_options(flags.common, batch.extent);
  options.recompute = flags.layout.recompute_for(model);
  options.moments = 0;
  Session<real> session(model, options);
  session.engine().initialise(flags.common.seed);
  if (!flags.weights.empty()) load_weights(session, *open_weights(flags.weights));

  const bool is_double = sizeof(real) == 8;
  const double nudge = flags.nudge > 0 ? flags.nudge : is_double ? 3e-6 : 1e-2;
  const double tolerance = flags.tolerance > 0 ? flags.tolerance : is_double ? 1e-7 : 2e-2;
  GradientChecker<real> checker(session, batch, nudge);
  const auto [count, worst] = flags.weight.empty() ? probe_samples(checker, flags.samples, flags.common.seed)
                                                   : probe_named(checker, session, flags);
  const bool passed = worst.error() <= tolerance;
  if (flags.common.json) {
    print_json({{"model", model.name}, {"real", flags.common.real}, {"loss", checker.loss()},
                {"samples", count}, {"nudge", nudge}, {"largest_error", worst.error()},
                {"tolerance", tolerance}, {"passed", passed},
                {"worst", {{"weight", worst.weight}, {"index", worst.index}, {"gradient", worst.gradient},
                           {"difference", worst.difference}}}});
  } else {
    std::cout << std::setprecision(12) << count << " distinct weights nudged by " << nudge << " (" << flags.common.real
              << ")\nlargest error " << worst.error() << " at " << worst.weight << "[" << worst.index
              << "]\n  by backpropagation   " << worst.gradient << "\n  by nudging           " << worst.difference
              << "\n" << (passed ? "passed" : "FAILED") << ": the bound is " << tolerance << "\n";
  }
  return passed ? 0 : 1;
}

}  // namespace

void add_gradcheck_command(CLI::App& app) {
  const auto flags = std::make_shared<GradcheckFlags>();
  flags->common.real = "f64";
  CLI::App* const c = app.add_subcommand("gradcheck", "Compare gradients with what a nudge of the weights does");
  c->add_option("model", flags->model, "The model's name")->required();
  c->add_option("--weights", flags->weights, "Weights, of any format that thimble reads; without it, from the seed");
  c->add_option("--tokens", flags->tokens, "Token ids [step][row][T+1] as JSON; without it, random ids");
  c->add_option("--samples", flags->samples, "How many weights, spread over all tensors")
      ->check(whole_number(1, 1'000'000'000))
      ->capture_default_str();
  auto* const weight = c->add_option("--weight", flags->weight, "Only this weight ...");
  c->add_option("--index", flags->index, "... at this index (row-major)")
      ->check(whole_number(0, 1'000'000'000'000))
      ->capture_default_str()
      ->needs(weight);
  c->add_option("--nudge", flags->nudge, "Half the distance of the two losses; 0: 3e-6 in f64, 1e-2 in f32")
      ->check(real_number(0, 1e6));
  c->add_option("--tolerance", flags->tolerance, "Largest error that passes; 0: 1e-7 in f64, 2e-2 in f32")
      ->check(real_number(0, 1e6));
  flags->layout.add_to(*c);
  flags->common.add_to(*c);
  c->callback([flags] {
    const int status = with_real(flags->common, [&]<class real>() { return run<real>(*flags); });
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace thimble
