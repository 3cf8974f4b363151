#include "tools/exchange/hugging_face.hpp"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tools/exchange/write_checkpoint.hpp"
#include "tools/files/atomic_file.hpp"
#include "tools/files/error.hpp"
#include "tools/files/safetensors.hpp"
#include "tools/files/safetensors_writer.hpp"
#include "tools/files/text_file.hpp"
#include "tools/model/gpt_config.hpp"
#include "tools/tokenizer/bpe_vocabulary.hpp"

namespace thimble {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

void write_text(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit();
}

/// Every tensor of the configuration, in its shape.
void require_tensors(const TensorFile& source, const GptConfig& c) {
  const std::uint64_t width = std::uint64_t(c.width);
  const auto matrix = [&](const std::string& name, std::uint64_t rows, std::uint64_t cols) {
    source.require(name, std::array{rows, cols});
  };
  const auto with_bias = [&](const std::string& name, std::uint64_t inputs, std::uint64_t outputs) {
    if (inputs == 0) {
      source.require(name + ".weight", std::array{outputs});
    } else {
      matrix(name + ".weight", inputs, outputs);
    }
    source.require(name + ".bias", std::array{outputs});
  };
  matrix("wte.weight", std::uint64_t(c.vocabulary), width);
  matrix("wpe.weight", std::uint64_t(c.context), width);
  for (int layer = 0; layer < c.layers; ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".";
    with_bias(h + "ln_1", 0, width);
    with_bias(h + "attn.c_attn", width, 3 * width);
    with_bias(h + "attn.c_proj", width, width);
    with_bias(h + "ln_2", 0, width);
    with_bias(h + "mlp.c_fc", width, 4 * width);
    with_bias(h + "mlp.c_proj", 4 * width, width);
  }
  with_bias("ln_f", 0, width);
  if (!c.tied_head) matrix("lm_head.weight", std::uint64_t(c.vocabulary), width);
}

/// config.json as our configuration.
GptConfig read_config(const fs::path& path) {
  GptConfig c;
  try {
    const Json j = Json::parse(read_file(path));
    c.vocabulary = j.at("vocab_size");
    c.context = j.at("n_positions");
    c.width = j.at("n_embd");
    c.layers = j.at("n_layer");
    c.heads = j.at("n_head");
    c.epsilon = j.value("layer_norm_epsilon", 1e-5);
    c.tied_head = j.value("tie_word_embeddings", true);
    const std::string activation = j.value("activation_function", "gelu_new");
    if (activation == "gelu") {
      c.activation = Activation::gelu_erf;
    } else if (activation == "relu") {
      c.activation = Activation::relu;
    } else if (activation != "gelu_new" && activation != "gelu_pytorch_tanh") {
      throw Error(path.string(), "has the activation " + in_quotes(activation) + ", which thimble does not know");
    }
  } catch (const Json::exception& e) {
    throw Error(path.string(), "is not the configuration of a GPT-2: " + in_quotes(e.what()));
  }
  return c;
}

}  // namespace

HuggingFaceFolder::HuggingFaceFolder(const fs::path& folder) : SafetensorsFile(folder / "model.safetensors") {
  const fs::path config = folder / "config.json";
  if (!fs::exists(config)) return;
  auto notes = metadata();
  notes["config"] = gpt_config_json(read_config(config));
  set_metadata(std::move(notes));
}

GptConfig require_gpt2(const TensorFile& source, const Gpt2Limits& limits) {
  const std::string where = source.path().string();
  const auto config = gpt_config_from(source.metadata(), where);
  if (!config) {
    throw Error(where, "does not say how its GPT is built, which " + std::string(limits.format) + " must say",
                "use thimble import FILE --model MODEL OUT first");
  }
  const GptConfig& c = *config;
  const auto refuse = [&](bool bad, const char* what) {
    if (bad) throw Error(where, std::string(limits.format) + " cannot express " + what, "use safetensors or npz");
  };
  refuse(c.norm != Norm::layernorm, "RMS norm");
  refuse(c.norm_after_embedding, "a norm after the embedding");
  refuse(!c.final_norm, "a GPT without a final norm");
  refuse(!c.biases, "linear layers without biases");
  refuse(c.activation == Activation::relu, "ReLU");
  refuse(c.activation == Activation::gelu_erf && !limits.erf_gelu, "the exact (erf) GELU");
  refuse(!c.tied_head && !limits.untied_head, "a head of its own");
  require_tensors(source, c);
  return c;
}

std::string hugging_face_config(const GptConfig& c, std::optional<std::int32_t> bos) {
  Json j{{"architectures", {"GPT2LMHeadModel"}},
         {"model_type", "gpt2"},
         {"vocab_size", c.vocabulary},
         {"n_positions", c.context},
         {"n_ctx", c.context},
         {"n_embd", c.width},
         {"n_layer", c.layers},
         {"n_head", c.heads},
         {"n_inner", nullptr},
         {"activation_function", c.activation == Activation::gelu_erf ? "gelu" : "gelu_new"},
         {"layer_norm_epsilon", c.epsilon},
         {"initializer_range", c.deviation},
         {"tie_word_embeddings", c.tied_head},
         {"resid_pdrop", 0.0},
         {"embd_pdrop", 0.0},
         {"attn_pdrop", 0.0}};
  j["bos_token_id"] = j["eos_token_id"] = bos ? Json(*bos) : Json(nullptr);
  j["torch_dtype"] = "float32";
  return j.dump(2) + "\n";
}

namespace {

void write_files(const fs::path& folder, const TensorFile& source, const GptConfig& config,
                 const std::optional<BpeVocabulary>& vocabulary) {
  std::optional<std::int32_t> bos;
  if (vocabulary) {
    const auto at = vocabulary->special.find(kEndOfText);
    if (at != vocabulary->special.end()) bos = at->second;
    write_text(folder / "vocab.json", vocab_json_of(*vocabulary));
    write_text(folder / "merges.txt", merges_txt_of(*vocabulary));
    Json tokenizer{{"tokenizer_class", "GPT2Tokenizer"}, {"model_max_length", config.context}};
    if (bos) tokenizer["bos_token"] = tokenizer["eos_token"] = tokenizer["unk_token"] = kEndOfText;
    write_text(folder / "tokenizer_config.json", tokenizer.dump(2) + "\n");
  }
  write_text(folder / "config.json", hugging_face_config(config, bos));
  write_safetensors(folder / "model.safetensors", source);
}

}  // namespace

void write_hugging_face_folder(const fs::path& folder, const TensorFile& source) {
  const GptConfig config = require_gpt2(source, {"a Hugging Face folder", true, true});
  const auto vocabulary = bpe_from_metadata(source.metadata(), source.path().string());
  std::error_code error;
  if (fs::exists(folder, error) && !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
    throw Error(folder.string(), "is there already", "give a new folder");
  }
  // Whole or not at all: written beside, then renamed.
  const fs::path temporary = folder.string() + ".tmp-" + std::to_string(::getpid());
  if (!fs::create_directory(temporary, error)) {
    throw Error(folder.string(), "cannot be made: " + error.message(), "its parent folder must be there");
  }
  try {
    write_files(temporary, source, config, vocabulary);
    fs::rename(temporary, folder);
  } catch (const fs::filesystem_error& e) {
    fs::remove_all(temporary, error);
    throw Error(folder.string(), "cannot be put in place: " + e.code().message());
  } catch (...) {
    fs::remove_all(temporary, error);
    throw;
  }
}

}  // namespace thimble
