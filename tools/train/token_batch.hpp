#pragma once
/// Batches of token ids for the subcommands that look at a single pass.

#include "tools/data/token_list.hpp"
#include "tools/model/model.hpp"

namespace thimble {

/// Inputs and targets, [batch, context] each.
struct TokenBatch {
  Extent extent;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> targets;
};

/// One step of a list of windows [row][T + 1].
TokenBatch batch_of(const TokenList& list, std::size_t step);

/// The first step of a --tokens file.
TokenBatch first_batch(const Model& model, const std::string& path);

/// Ids drawn from a seed, each equally likely.
TokenBatch random_batch(const Model& model, const Extent& extent, std::uint64_t seed);

}  // namespace thimble
