#pragma once
/// A GPT's configuration as a checkpoint's header holds it.

#include <initializer_list>
#include <optional>

#include "core/checkpoint/entry.hpp"
#include "models/gpt.hpp"

namespace thimble {

constexpr thimble_checkpoint_GptConfig gpt_message(const GptConfig& c) {
  return {std::uint32_t(c.vocabulary),
          std::uint32_t(c.context),
          std::uint32_t(c.width),
          std::uint32_t(c.heads),
          std::uint32_t(c.layers),
          thimble_checkpoint_Norm(int(c.norm) + 1),
          c.norm_gain,
          c.norm_after_embedding,
          c.final_norm,
          c.biases,
          thimble_checkpoint_Activation(int(c.activation) + 1),
          c.tied_head,
          c.epsilon};
}

/// The configuration of a message; nothing where a size or a choice is none that a GPT can have.
constexpr std::optional<GptConfig> gpt_config_of(const thimble_checkpoint_GptConfig& m) {
  constexpr std::uint32_t kMost = 1u << 24;
  for (const std::uint32_t size : {m.vocabulary, m.context, m.width, m.heads, m.layers}) {
    if (size < 1 || size > kMost) return std::nullopt;
  }
  const bool choices = int(m.norm) >= 1 && int(m.norm) <= 2 && int(m.activation) >= 1 && int(m.activation) <= 3;
  if (!choices || m.width % m.heads != 0) return std::nullopt;
  GptConfig c;
  c.vocabulary = int(m.vocabulary);
  c.context = int(m.context);
  c.width = int(m.width);
  c.heads = int(m.heads);
  c.layers = int(m.layers);
  c.norm = Norm(int(m.norm) - 1);
  c.norm_gain = m.norm_gain;
  c.norm_after_embedding = m.norm_after_embedding;
  c.final_norm = m.final_norm;
  c.biases = m.biases;
  c.activation = Activation(int(m.activation) - 1);
  c.tied_head = m.tied_head;
  c.epsilon = m.epsilon;
  return c;
}

}  // namespace thimble
