/// thimble grad: one pass back through a model, every gradient on the way written down.

#include <iomanip>
#include <iostream>

#include "tools/command/common.hpp"
#include "tools/exchange/formats.hpp"
#include "tools/gradient/gradient_file.hpp"
#include "tools/gradient/report.hpp"
#include "tools/model/weights.hpp"
#include "tools/tokenizer/tokenizer.hpp"
#include "tools/train/token_batch.hpp"

namespace thimble {

namespace {

struct GradFlags {
  CommonFlags common;
  std::string model;
  std::string weights;
  std::string tokens;
  std::string tokenizer;
  std::string prompt;
  std::string out;
  std::string recompute;
  std::vector<std::string> assignments;
  int influence_limit = 32;
};

/// NAME=VALUE for an input or weight that is a single number.
template <class real>
void assign(Session<real>& session, const std::string& text) {
  const std::size_t equals = text.find('=');
  double value = 0;
  if (equals == std::string::npos || !CLI::detail::lexical_cast(text.substr(equals + 1), value) ||
      !std::isfinite(value)) {
    throw Error("--set", in_quotes(text) + " is not of the form NAME=NUMBER", "for example --set w1=2");
  }
  const std::string name = text.substr(0, equals);
  const TapeView tape = session.model().tape;
  std::vector<std::string> names;
  for (const ParameterSlots& p : session.prepared().parameters) {
    const auto w = session.engine().weight(p);
    if (w.size() == 1) names.emplace_back(session.name_of(p));
    if (w.size() == 1 && names.back() == name) return void(w[0] = real(value));
  }
  for (const InputSlot& i : session.prepared().inputs) {
    const auto x = session.engine().input(i);
    if (x.size() == 1) names.emplace_back(tape[i.value].name.view());
    if (x.size() == 1 && names.back() == name) return void(x[0] = real(value));
  }
  throw Error("--set", session.model().name + " has no single number called " + in_quotes(name),
              did_you_mean(name, names));
}

double norm_of(const NamedTensor& t) {
  double sum = 0;
  for (double x : t.data) sum += x * x;
  return std::sqrt(sum);
}

/// Numbers as they are; larger tensors by their L2 norm.
Json summary(const std::vector<NamedTensor>& tensors) {
  Json j = Json::object();
  for (const NamedTensor& t : tensors) j[t.name] = t.data.size() == 1 ? t.data[0] : norm_of(t);
  return j;
}

void print_list(const char* title, const std::vector<NamedTensor>& tensors) {
  std::cout << title << "\n";
  for (const NamedTensor& t : tensors) {
    std::cout << "  " << std::left << std::setw(26) << t.name << std::setprecision(9)
              << (t.data.size() == 1 ? t.data[0] : norm_of(t)) << (t.data.size() == 1 ? "" : "  (L2 norm)") << "\n";
  }
}

/// The gradients that arrive at inputs: they have no step of their own to be caught at.
template <class real>
std::vector<NamedTensor> input_gradients(const Session<real>& session) {
  std::vector<NamedTensor> r;
  const auto& plan = session.prepared().train_plan;
  for (const InputSlot& i : session.prepared().inputs) {
    for (const Tensor& t : plan.tensors) {
      if (t.kind != TensorKind::gradient || t.value != i.value) continue;
      const Value& v = session.model().tape[i.value];
      const real* const p = session.engine().at(ArenaPlace(t.offset / kArenaAlignment));
      r.push_back({std::string(v.name.view()), {v.shape.fixed_rows, v.shape.cols},
                   std::vector<double>(p, p + v.shape.count({}))});
    }
  }
  return r;
}

/// Inputs are the prompt's tokens but for the last; the target of each is the next.
TokenBatch prompt_batch(const GradFlags& flags, const Model& model) {
  if (flags.weights.empty() && flags.tokenizer.empty() &&
      flags.prompt.find_first_not_of("0123456789 ") != std::string::npos) {
    throw Error("--prompt", "without --weights or --tokenizer there is no tokenizer, so the prompt is read as token ids",
                "give one of the two, or ids: --prompt '1 2 3'");
  }
  const Metadata metadata = flags.weights.empty() ? Metadata{} : open_weights(flags.weights)->metadata();
  const auto tokenizer =
      choose_tokenizer(flags.tokenizer, metadata, flags.weights, std::size_t(model.vocabulary()));
  std::vector<std::int32_t> ids = tokenizer->encode(flags.prompt);
  const std::size_t limit = std::size_t(model.context_limit());
  if (ids.size() < 2 || ids.size() - 1 > limit) {
    throw Error("--prompt", "makes " + std::to_string(ids.size()) + " tokens, but " + model.name + " takes from 2 to " +
                                std::to_string(limit + 1), "");
  }
  const std::size_t length = ids.size();
  return batch_of(TokenList{1, 1, length, std::move(ids)}, 0);
}

TokenBatch batch_for(const GradFlags& flags, const Model& model) {
  if (flags.tokens.empty() == flags.prompt.empty()) {
    throw Error("grad", flags.tokens.empty() ? model.name + " needs tokens" : "--tokens and --prompt exclude each other",
                "give --tokens FILE.json, or --prompt TEXT");
  }
  return flags.prompt.empty() ? first_batch(model, flags.tokens) : prompt_batch(flags, model);
}

template <class real>
void run(const GradFlags& flags) {
  const Model& model = find_model(flags.model);
  for (const std::string& read : {flags.tokens, flags.weights}) {
    std::error_code error;
    if (!flags.out.empty() && std::filesystem::equivalent(read, flags.out, error)) {
      throw Error("--out", flags.out + " is also read", "give another file");
    }
  }
  const TokenBatch batch = model.takes_tokens() ? batch_for(flags, model) : TokenBatch{};
  SessionOptions options = session_options(flags.common, batch.extent);
  options.recompute = flags.recompute.empty() ? model.recompute : flags.recompute;
  options.moments = 0;
  Session<real> session(model, options);
  session.engine().initialise(flags.common.seed);
  if (!flags.weights.empty()) load_weights(session, *open_weights(flags.weights));
  for (const std::string& a : flags.assignments) assign(session, a);

  GradientReport report =
      report_gradients(session, batch.tokens, batch.targets, batch.extent, {.stops = true, .values = !model.takes_tokens()});
  for (NamedTensor& t : input_gradients(session)) report.stops.push_back(std::move(t));
  std::optional<NamedTensor> influence;
  if (!flags.out.empty() && model.takes_tokens() && batch.extent.context <= flags.influence_limit) {
    influence = report_influence(session, std::span<const std::int32_t>(batch.tokens),
                                 std::span<const std::int32_t>(batch.targets), batch.extent);
  }
  if (!flags.out.empty()) write_gradients(flags.out, report, influence);

  if (flags.common.json) {
    Json j{{"model", model.name}, {"real", flags.common.real}, {"kernels", session.kernels_name()}};
    if (!flags.prompt.empty()) {
      j["tokens"] = batch.tokens;
      j["targets"] = batch.targets;
    }
    j["loss"] = report.loss;
    j["valid"] = report.valid;
    j["loss_per_position"] = report.loss_per_position;
    if (!report.values.empty()) j["values"] = summary(report.values);
    j["weights"] = summary(report.weights);
    j["stops"] = summary(report.stops);
    if (!flags.out.empty()) j["out"] = flags.out;
    return print_json(j);
  }
  std::cout << (model.takes_tokens() ? "loss " : "result ") << std::setprecision(9) << report.loss << "\n";
  if (!report.values.empty()) print_list("values", report.values);
  print_list("gradient on its way back", report.stops);
  print_list("gradient of the weights", report.weights);
  if (!flags.out.empty()) std::cout << "written to " << flags.out << "\n";
}

}  // namespace

void add_grad_command(CLI::App& app) {
  const auto flags = std::make_shared<GradFlags>();
  CLI::App* const c = app.add_subcommand("grad", "One pass back through a model: every gradient on the way");
  c->add_option("model", flags->model, "The model's name")->required();
  c->add_option("--weights", flags->weights, "Weights, of any format that thimble reads; without it, from the seed");
  c->add_option("--tokens", flags->tokens, "Token ids [step][row][T+1] as JSON; the first step is taken");
  c->add_option("--prompt", flags->prompt, "A text instead: its tokens, each to predict the next");
  c->add_option("--tokenizer", flags->tokenizer, kTokenizerHelp);
  c->add_option("--out", flags->out, "Write loss, gradients, stops and influence to this safetensors file");
  c->add_option("--recompute", flags->recompute, kRecomputeHelp);
  c->add_option("--set", flags->assignments, "NAME=NUMBER: an input or weight of the neuron (repeatable)");
  c->add_option("--influence-limit", flags->influence_limit,
                "Longest context for which --out holds influence too: of row 0 of the batch, by one backward pass a position")
      ->check(whole_number(0, 1 << 20))
      ->capture_default_str();
  flags->common.add_to(*c);
  c->callback([flags] { with_real(flags->common, [&]<class real>() { run<real>(*flags); }); });
}

}  // namespace thimble
