#include "tools/model/gpt_config.hpp"

#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"

namespace thimble {

NLOHMANN_JSON_SERIALIZE_ENUM(Norm, {{Norm::layernorm, "layernorm"}, {Norm::rmsnorm, "rmsnorm"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Activation, {{Activation::gelu_tanh, "gelu_tanh"},
                                          {Activation::gelu_erf, "gelu_erf"},
                                          {Activation::relu, "relu"}})

namespace {

/// Calls f(key, member) for everything that is written.
template <class Config, class F>
void each_member(Config& c, F f) {
  f("vocabulary", c.vocabulary);
  f("context", c.context);
  f("width", c.width);
  f("heads", c.heads);
  f("layers", c.layers);
  f("norm", c.norm);
  f("norm_gain", c.norm_gain);
  f("norm_after_embedding", c.norm_after_embedding);
  f("final_norm", c.final_norm);
  f("biases", c.biases);
  f("activation", c.activation);
  f("tied_head", c.tied_head);
  f("epsilon", c.epsilon);
}

}  // namespace

std::string gpt_config_json(const GptConfig& config) {
  nlohmann::ordered_json j;
  each_member(config, [&](const char* key, const auto& member) { j[key] = member; });
  return j.dump();
}

std::optional<GptConfig> gpt_config_from(const std::map<std::string, std::string>& metadata, const std::string& where) {
  const auto at = metadata.find("config");
  if (at == metadata.end()) return std::nullopt;
  GptConfig c;
  try {
    const auto j = nlohmann::json::parse(at->second);
    each_member(c, [&](const char* key, auto& member) { j.at(key).get_to(member); });
    // An unknown word reads as the first choice, and then does not come back.
    for (const auto& [key, found] : {std::pair("norm", nlohmann::json(c.norm)), {"activation", nlohmann::json(c.activation)}}) {
      if (found == j.at(key)) continue;
      throw Error(where + ", metadata 'config'", std::string("has the ") + key + " " + in_quotes(j.at(key).dump()) +
                                                     ", which thimble does not know");
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(where + ", metadata 'config'", "is not the configuration of a GPT: " + in_quotes(e.what()));
  }
  constexpr int kMost = 1 << 24;
  for (const int size : {c.vocabulary, c.context, c.width, c.heads, c.layers}) {
    if (size < 1 || size > kMost) {
      throw Error(where + ", metadata 'config'", "has a size of " + std::to_string(size));
    }
  }
  if (c.width % c.heads != 0) throw Error(where + ", metadata 'config'", "the heads do not divide the width");
  return c;
}

}  // namespace thimble
