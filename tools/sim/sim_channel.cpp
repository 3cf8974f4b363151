#include "tools/sim/sim_channel.hpp"

namespace thimble {

namespace {
constexpr std::uint64_t kIdleTicks = SimBoard::kTicksPerSecond / 1000;
}

std::size_t SimChannel::read(std::span<std::byte> to, std::chrono::milliseconds wait) {
  const auto end = now() + wait;
  for (;;) {
    if (const std::size_t count = board_.to_host().read(to)) return count;
    if (!board_.powered()) throw PowerCut{};
    if (now() >= end) return 0;
    if (program_ == nullptr || !program_->poll()) board_.advance(kIdleTicks);
  }
}

}  // namespace thimble
