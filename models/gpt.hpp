#pragma once
/// The GPT family: token and position embedding, pre-norm blocks of causal attention and a two-layer MLP, a head.
/// Parameter names and layouts are those of Hugging Face's GPT-2; values are named as the stops of the backward walk.

#include "core/ops/list.hpp"
#include "core/train/options.hpp"

namespace thimble {

enum class Norm : std::uint8_t { layernorm, rmsnorm };
enum class Activation : std::uint8_t { gelu_tanh, gelu_erf, relu };

struct GptConfig {
  int vocabulary = 0;
  int context = 0;
  int width = 0;
  int heads = 1;
  int layers = 1;
  Norm norm = Norm::layernorm;
  bool norm_gain = true;              ///< RMS norm only; layernorm always has gain and bias
  bool norm_after_embedding = false;
  bool final_norm = true;
  bool biases = true;                 ///< of the linear layers
  Activation activation = Activation::gelu_tanh;
  bool tied_head = true;              ///< the head's matrix is wte.weight; otherwise lm_head.weight
  int head_tile = 256;                ///< rows of logits held at a time; 0: all of them, as a value of the tape
  double epsilon = 1e-5;
  double deviation = 0.02;            ///< of the initial weights
  bool scale_residual_init = true;    ///< projections into the residual stream start smaller by sqrt(2 layers)
};

namespace detail {

class GptBuilder {
 public:
  constexpr GptBuilder(TapeBuilder& t, const GptConfig& c) : t_(t), c_(c) {
    require(c.heads > 0 && c.width % c.heads == 0, "gpt: the number of heads must divide the width");
    require(c.layers >= 1, "gpt: at least one layer");
  }

  constexpr void build() {
    const ValueId tokens = t_.ids("tokens");
    const ValueId targets = t_.ids("targets");
    const ValueId wte = matrix("wte.weight", c_.vocabulary, c_.width, c_.deviation);
    const ValueId wpe = matrix("wpe.weight", c_.context, c_.width, c_.deviation);
    ValueId x = positional(t_, "embed", embedding(t_, "wte", tokens, wte), wpe);
    if (c_.norm_after_embedding) x = norm("h.0.in", x, "ln_0");
    for (int i = 0; i < c_.layers; ++i) {
      t_.begin_block(i, x);
      x = block(i, x);
    }
    t_.end_blocks(x);
    if (c_.final_norm) x = norm("ln_f", x, "ln_f");
    const ValueId table = c_.tied_head ? wte : matrix("lm_head.weight", c_.vocabulary, c_.width, c_.deviation);
    if (c_.head_tile > 0) {
      head_cross_entropy(t_, "loss", x, table, targets, c_.head_tile);
    } else {
      cross_entropy(t_, "loss", head(t_, "logits", x, table), targets);
    }
  }

 private:
  constexpr ValueId matrix(Name name, int rows, int cols, double deviation) {
    return t_.parameter(name, Shape::matrix(rows, cols), Init::normal(deviation));
  }

  constexpr ValueId norm(Name name, ValueId x, Name parameters) {
    const auto vector = [&](const char* suffix, double start) {
      return t_.parameter(parameters + suffix, Shape::vector(c_.width), Init::constant(start));
    };
    if (c_.norm == Norm::rmsnorm) {
      return rmsnorm(t_, name, x, c_.norm_gain ? vector(".weight", 1) : kNoValue, c_.epsilon);
    }
    const ValueId gain = vector(".weight", 1);
    return layernorm(t_, name, x, gain, vector(".bias", 0), c_.epsilon);
  }

  constexpr ValueId dense(Name name, ValueId x, Name parameters, int outputs, double deviation) {
    const ValueId w = matrix(parameters + ".weight", t_.shape(x).cols, outputs, deviation);
    const ValueId b = c_.biases ? t_.parameter(parameters + ".bias", Shape::vector(outputs), Init::constant(0))
                                : kNoValue;
    return linear(t_, name, x, w, b);
  }

  constexpr ValueId activation(Name name, ValueId x) {
    switch (c_.activation) {
      case Activation::gelu_tanh: return gelu(t_, name, x, GeluKind::tanh);
      case Activation::gelu_erf: return gelu(t_, name, x, GeluKind::erf);
      case Activation::relu: return relu(t_, name, x);
    }
    return x;
  }

  constexpr ValueId block(int i, ValueId x) {
    const auto h = [i](const char* rest) { return Name("h.", i, rest); };
    const double into_stream =
        c_.scale_residual_init ? c_.deviation / scalar_sqrt(2.0 * c_.layers) : c_.deviation;
    const ValueId ln_1 = norm(h(".ln_1"), x, h(".ln_1"));
    const ValueId qkv = dense(h(".qkv"), ln_1, h(".attn.c_attn"), 3 * c_.width, c_.deviation);
    const ValueId attn = attention(t_, h(".attn"), qkv, c_.heads);
    const ValueId proj = dense(h(".proj"), attn, h(".attn.c_proj"), c_.width, into_stream);
    const ValueId mid = add(t_, h(".mid"), x, proj);
    const ValueId ln_2 = norm(h(".ln_2"), mid, h(".ln_2"));
    const ValueId pre = dense(h(".pre"), ln_2, h(".mlp.c_fc"), 4 * c_.width, c_.deviation);
    const ValueId act = activation(h(".act"), pre);
    const ValueId mlp = dense(h(".mlp"), act, h(".mlp.c_proj"), c_.width, into_stream);
    return add(t_, h(".out"), mid, mlp);
  }

  TapeBuilder& t_;
  const GptConfig& c_;
};

}  // namespace detail

constexpr void build_gpt(TapeBuilder& t, const GptConfig& config) { detail::GptBuilder(t, config).build(); }

}  // namespace thimble
