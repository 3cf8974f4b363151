#pragma once
/// A GPT's configuration as a checkpoint's header holds it.

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

}  // namespace thimble
