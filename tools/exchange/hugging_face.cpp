#include "tools/exchange/hugging_face.hpp"

#include <nlohmann/json.hpp>

#include "tools/exchange/write_checkpoint.hpp"
#include "tools/files/atomic_file.hpp"
#include "tools/files/error.hpp"
#include "tools/files/safetensors_writer.hpp"
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

}  // namespace

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
  if (bos) j["bos_token_id"] = j["eos_token_id"] = *bos;
  j["torch_dtype"] = "float32";
  return j.dump(2) + "\n";
}

void write_hugging_face_folder(const fs::path& folder, const TensorFile& source) {
  const GptConfig config = require_gpt2(source, {"a Hugging Face folder", true, true});
  const auto vocabulary = bpe_from_metadata(source.metadata(), source.path().string());
  std::error_code error;
  if (fs::exists(folder, error) && !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
    throw Error(folder.string(), "is there already", "give a new folder");
  }
  fs::create_directory(folder, error);
  if (error) throw Error(folder.string(), "cannot be made: " + error.message(), "its parent folder must be there");
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

}  // namespace thimble
