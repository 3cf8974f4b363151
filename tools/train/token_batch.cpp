#include "tools/train/token_batch.hpp"

#include "core/base/philox.hpp"
#include "tools/data/window.hpp"

namespace thimble {

TokenBatch batch_of(const TokenList& list, std::size_t step) {
  TokenBatch b;
  const std::size_t context = list.window_length - 1;
  b.extent = {std::int32_t(list.row_count), std::int32_t(context)};
  b.tokens.resize(list.row_count * context);
  b.targets.resize(b.tokens.size());
  split_windows(list.step(step), context, b.tokens, b.targets);
  return b;
}

TokenBatch first_batch(const Model& model, const std::string& path) {
  return batch_of(read_token_list(path, std::size_t(model.vocabulary()), std::size_t(model.context_limit())), 0);
}

TokenBatch random_batch(const Model& model, const Extent& extent, std::uint64_t seed) {
  TokenBatch b{extent, std::vector<std::int32_t>(std::size_t(extent.tokens())), {}};
  b.targets.resize(b.tokens.size());
  const auto draw = [&](std::uint64_t counter) {
    return std::int32_t(uniform(seed, counter, std::uint64_t(Stream::probe)) * model.vocabulary());
  };
  for (std::size_t i = 0; i < b.tokens.size(); ++i) {
    b.tokens[i] = draw(2 * i);
    b.targets[i] = draw(2 * i + 1);
  }
  return b;
}

}  // namespace thimble
