/// thimble sample: text from a trained model.

#include <iostream>

#include "tools/command/common.hpp"
#include "tools/exchange/formats.hpp"
#include "tools/model/weights.hpp"
#include "tools/train/generate.hpp"
#include "tools/tokenizer/tokenizer.hpp"

namespace thimble {

namespace {

struct SampleFlags {
  CommonFlags common;
  std::string model;
  std::string weights;
  std::string tokenizer;
  std::string prompt;
  std::int64_t length = 200;
  int count = 1;
  double temperature = 1;
  int top_k = 0;
};

template <class real>
void run(const SampleFlags& flags) {
  const Model& model = find_model(flags.model);
  if (!generates(model.tape)) {
    throw Error("sample", model.name + " does not end in logits: there is nothing to sample", "");
  }
  const int context = model.gpt ? model.gpt->context : model.extent.context;
  SessionOptions options = session_options(flags.common, {1, context});
  options.gradients = false;
  Session<real> session(model, options);
  const auto weights = open_weights(flags.weights);
  load_weights(session, *weights);
  const auto tokenizer = choose_tokenizer(flags.tokenizer, weights->metadata(), flags.weights, std::size_t(model.vocabulary()));
  std::vector<std::int32_t> prompt = tokenizer->encode(flags.prompt);
  // Without a prompt, a document begins; or, where documents are not framed, a line: the first symbol is its end.
  if (prompt.empty()) prompt.push_back(tokenizer->bos().value_or(0));

  GenerateOptions g;
  g.sampling = {flags.temperature, flags.top_k};
  g.seed = flags.common.seed;
  g.length = flags.length;
  g.stop_at = tokenizer->bos();
  g.id_count = std::int32_t(tokenizer->id_count());
  const std::string begin = flags.prompt.empty() ? "" : flags.prompt + tokenizer->separator();
  Json samples = Json::array();
  for (int i = 0; i < flags.count; ++i) {
    g.sequence = std::uint64_t(i);
    const bool live = !flags.common.json;
    if (live) std::cout << begin << std::flush;
    const auto tokens = generate(session, std::span<const std::int32_t>(prompt), g, [&](std::int32_t t) {
      if (live) std::cout << tokenizer->decode(std::span(&t, 1)) << std::flush;
    });
    if (live) std::cout << "\n";
    samples.push_back({{"text", begin + tokenizer->decode(tokens)}, {"tokens", tokens}});
  }
  if (flags.common.json) {
    print_json({{"model", model.name}, {"kernels", session.kernels_name()}, {"samples", samples}});
  }
}

}  // namespace

void add_sample_command(CLI::App& app) {
  const auto flags = std::make_shared<SampleFlags>();
  CLI::App* const c = app.add_subcommand("sample", "Write text with a trained model");
  c->add_option("model", flags->model, "The model's name")->required();
  c->add_option("--weights", flags->weights, "Weights, of any format that thimble reads")->required();
  c->add_option("--tokenizer", flags->tokenizer, kTokenizerHelp);
  c->add_option("--prompt", flags->prompt, "How the text begins");
  c->add_option("--length", flags->length, "Most new tokens")->check(whole_number(0, 1'000'000'000))->capture_default_str();
  c->add_option("--count", flags->count, "How many samples")->check(whole_number(1, 1'000'000))->capture_default_str();
  c->add_option("--temperature", flags->temperature, "0: always the most likely token")
      ->check(real_number(0, 1e6))
      ->capture_default_str();
  c->add_option("--top-k", flags->top_k, "Only the k most likely tokens; 0: all")
      ->check(whole_number(0, 1'000'000'000))
      ->capture_default_str();
  flags->common.add_to(*c);
  c->callback([flags] { with_real(flags->common, [&]<class real>() { run<real>(*flags); }); });
}

}  // namespace thimble
