#pragma once
/// Token ids are int32. Targets may be ignored.

#include <cstdint>

namespace thimble {

/// Target id of a position that takes no part in the loss.
inline constexpr std::int32_t kIgnoredTarget = -1;

}  // namespace thimble
