#include "tools/data/window.hpp"

#include <stdexcept>

namespace thimble {

void split_windows(std::span<const std::int32_t> windows, std::size_t context, std::span<std::int32_t> inputs,
                   std::span<std::int32_t> targets) {
  const std::size_t rows = windows.size() / (context + 1);
  const bool fit = windows.size() == rows * (context + 1) && inputs.size() == rows * context;
  if (!fit || targets.size() != inputs.size()) {
    throw std::logic_error("split_windows: each row has context + 1 ids, context inputs and context targets");
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t t = 0; t < context; ++t) {
      const std::int32_t id = windows[row * (context + 1) + t];
      inputs[row * context + t] = id == kIgnoredTarget ? 0 : id;
      targets[row * context + t] = windows[row * (context + 1) + t + 1];
    }
  }
}

}  // namespace thimble
