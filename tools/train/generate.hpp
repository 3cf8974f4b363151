#pragma once
/// Text from a trained model, a token at a time.

#include <functional>

#include "core/train/sampling.hpp"
#include "tools/model/session.hpp"

namespace thimble {

/// How a sequence is continued.
struct GenerateOptions {
  SamplingOptions sampling;
  std::uint64_t seed = 1;
  std::uint64_t sequence = 0;            ///< several sequences of one seed differ by this number
  std::int64_t length = 100;             ///< most new tokens
  std::int32_t id_count = 0;             ///< ids that have a meaning (the vocabulary may be padded); 0: all
  std::optional<std::int32_t> stop_at;   ///< ends when this token is drawn (it is not returned)
};

/// Continues `prompt` (at least one token). Where the context is full, the later half of what was said is read again
/// and generation goes on from there. `each` is called with every new token. `Error`
/// where logits are not finite.
template <class real>
std::vector<std::int32_t> generate(Session<real>& session, std::span<const std::int32_t> prompt,
                                   const GenerateOptions& options,
                                   const std::function<void(std::int32_t)>& each = {});

}  // namespace thimble
