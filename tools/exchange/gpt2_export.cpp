#include "tools/exchange/gpt2_export.hpp"

#include "tools/data/symbols.hpp"
#include "tools/exchange/hugging_face.hpp"
#include "tools/exchange/tensor_values.hpp"
#include "tools/files/error.hpp"
#include "tools/files/gguf_writer.hpp"
#include "tools/files/llmc.hpp"
#include "tools/files/llmc_layout.hpp"
#include "tools/model/gpt_config.hpp"
#include "tools/tokenizer/bpe_vocabulary.hpp"
#include "tools/tokenizer/byte_alphabet.hpp"

namespace thimble {

namespace {

using Shape2 = std::vector<std::uint64_t>;

/// llama.cpp's kinds of tokens.
enum TokenType : std::int32_t { kNormal = 1, kControl = 3, kUnused = 5 };

struct GgufTokens {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;
  std::optional<std::int32_t> bos;
};

/// The tokenizer in the source as GPT-2's: byte symbols are tokens of one byte without merges.
GgufTokens gguf_tokens(const TensorFile& source, const GptConfig& c) {
  GgufTokens t;
  const std::string where = source.path().string();
  const auto found = source.metadata().find("tokenizer");
  if (const auto bpe = bpe_from_metadata(source.metadata(), where)) {
    t.tokens = bpe->tokens;
    t.types.assign(t.tokens.size(), kNormal);
    for (const auto& [text, id] : bpe->special) t.types[std::size_t(id)] = kControl;
    t.merges = bpe->merge_lines();
    const auto end = bpe->special.find(kEndOfText);
    if (end != bpe->special.end()) t.bos = end->second;
  } else if (found != source.metadata().end() && found->second.starts_with(R"({"type":"bytes")")) {
    const Symbols symbols = Symbols::from_json(found->second, where);
    t.bos = symbols.bos();
    for (std::int32_t id = 0; id < std::int32_t(symbols.id_count()); ++id) {
      const bool frame = t.bos == id;
      t.tokens.push_back(frame ? "<|bos|>" : to_byte_alphabet(symbols.decode(std::span(&id, 1))));
      t.types.push_back(frame ? kControl : kNormal);
    }
  }
  for (int id = int(t.tokens.size()); id < c.vocabulary; ++id) {
    t.tokens.push_back("<|unused " + std::to_string(id) + "|>");
    t.types.push_back(kUnused);
  }
  return t;
}

void set_metadata(GgufWriter& out, const TensorFile& source, const GptConfig& c) {
  const auto model = source.metadata().find("model");
  out.set("general.architecture", "gpt2");
  out.set("general.name", model == source.metadata().end() ? "gpt2" : model->second);
  out.set("general.file_type", std::uint32_t(0));  // all F32
  out.set("gpt2.context_length", std::uint32_t(c.context));
  out.set("gpt2.embedding_length", std::uint32_t(c.width));
  out.set("gpt2.feed_forward_length", std::uint32_t(4 * c.width));
  out.set("gpt2.block_count", std::uint32_t(c.layers));
  out.set("gpt2.attention.head_count", std::uint32_t(c.heads));
  out.set("gpt2.attention.layer_norm_epsilon", float(c.epsilon));
  const GgufTokens t = gguf_tokens(source, c);
  out.set("tokenizer.ggml.model", "gpt2");
  out.set("tokenizer.ggml.pre", "gpt-2");
  out.set("tokenizer.ggml.tokens", t.tokens);
  out.set("tokenizer.ggml.token_type", t.types);
  out.set("tokenizer.ggml.merges", t.merges);
  if (t.bos) {
    out.set("tokenizer.ggml.bos_token_id", std::uint32_t(*t.bos));
    out.set("tokenizer.ggml.eos_token_id", std::uint32_t(*t.bos));
  }
}

/// A tensor of the GGUF and the one that it is made of; `turned` where Hugging Face has [in, out] and ggml [out, in].
struct GgufTensor {
  std::string name;
  std::string source;
  bool turned = false;
};

std::vector<GgufTensor> gguf_tensors(const GptConfig& c) {
  std::vector<GgufTensor> list = {{"token_embd.weight", "wte.weight"}, {"position_embd.weight", "wpe.weight"}};
  constexpr struct {
    const char *ours, *theirs;
    bool turned;
  } kBlock[] = {{"ln_1", "attn_norm", false},         {"attn.c_attn", "attn_qkv", true},
                {"attn.c_proj", "attn_output", true}, {"ln_2", "ffn_norm", false},
                {"mlp.c_fc", "ffn_up", true},         {"mlp.c_proj", "ffn_down", true}};
  for (int layer = 0; layer < c.layers; ++layer) {
    const std::string ours = "h." + std::to_string(layer) + ".", theirs = "blk." + std::to_string(layer) + ".";
    for (const auto& part : kBlock) {
      list.push_back({theirs + part.theirs + ".weight", ours + part.ours + ".weight", part.turned});
      list.push_back({theirs + part.theirs + ".bias", ours + part.ours + ".bias"});
    }
  }
  list.push_back({"output_norm.weight", "ln_f.weight"});
  list.push_back({"output_norm.bias", "ln_f.bias"});
  if (!c.tied_head) list.push_back({"output.weight", "lm_head.weight"});
  return list;
}

const StoredTensor& tensor_of(const TensorFile& source, const std::string& name) {
  if (const StoredTensor* const t = source.find(name)) return *t;
  throw Error(source.path().string(), "has no tensor " + in_quotes(name), "use thimble import FILE --model MODEL OUT");
}

}  // namespace

void write_gguf(const std::filesystem::path& path, const TensorFile& source) {
  const GptConfig config = require_gpt2(source, {"llama.cpp's gpt2", false, true});
  GgufWriter out(path);
  set_metadata(out, source, config);
  const auto list = gguf_tensors(config);
  for (const GgufTensor& t : list) {
    Shape2 shape = tensor_of(source, t.source).shape;
    if (t.turned && shape.size() == 2) std::swap(shape[0], shape[1]);
    out.declare(t.name, StoredType::kF32, shape);
  }
  std::vector<std::byte> turned;
  for (const GgufTensor& t : list) {
    std::vector<float> converted;
    const StoredTensor values = as_f32(source, tensor_of(source, t.source), converted);
    if (!t.turned || values.shape.size() != 2) {
      out.append(t.name, values.bytes);
    } else {
      turned.resize(values.bytes.size());
      detail::transpose(values.bytes, values.shape[0], values.shape[1], sizeof(float), turned);
      out.append(t.name, turned);
    }
  }
  out.commit();
}

std::unique_ptr<TensorFile> open_llmc(const std::filesystem::path& path) {
  struct LlmcWeights : LlmcFile {
    explicit LlmcWeights(const std::filesystem::path& p) : LlmcFile(p) {
      GptConfig c;
      c.vocabulary = int(config().vocabulary);
      c.context = int(config().context);
      c.width = int(config().width);
      c.heads = int(config().heads);
      c.layers = int(config().layers);
      set_metadata({{"config", gpt_config_json(c)}});
    }
  };
  return std::make_unique<LlmcWeights>(path);
}

void write_llmc_file(const std::filesystem::path& path, const TensorFile& source) {
  const GptConfig c = require_gpt2(source, {"llm.c", false, false});
  LlmcConfig config;
  config.context = std::uint32_t(c.context);
  config.vocabulary = std::uint32_t(c.vocabulary);
  config.layers = std::uint32_t(c.layers);
  config.heads = std::uint32_t(c.heads);
  config.width = std::uint32_t(c.width);
  std::vector<float> converted;
  write_llmc(path, config,
             [&](const std::string& name) { return as_f32(source, tensor_of(source, name), converted); });
}

}  // namespace thimble
