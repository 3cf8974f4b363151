#include "ports/sim/board.hpp"

namespace thimble {

SimBoard::SimBoard(const FlashGeometry& geometry, const LineFaults& faults, std::uint64_t seed)
    : flash_(geometry, seed), to_board_(faults, seed * 2), to_host_(faults, seed * 2 + 1) {
  port_.state = this;
  port_.receive = receive;
  port_.send = send;
  port_.ticks = ticks;
  port_.tick_unit = TickUnit::instructions;
  port_.ticks_per_second = kTicksPerSecond;
  port_.flash = flash_.flash();
}

void SimBoard::advance(std::uint64_t ticks) {
  now_ += ticks;
  if (now_ >= cut_at_) flash_.power_off();
}

void SimBoard::power_on() {
  cut_at_ = ~std::uint64_t(0);
  to_board_.clear();
  flash_.power_on();
}

std::size_t SimBoard::receive(void* self, std::span<std::byte> to) {
  SimBoard& b = *static_cast<SimBoard*>(self);
  b.advance(kCallTicks);
  return b.powered() ? b.to_board_.read(to) : 0;
}

void SimBoard::send(void* self, std::span<const std::byte> bytes) {
  SimBoard& b = *static_cast<SimBoard*>(self);
  for (const std::byte byte : bytes) {
    b.advance(kByteTicks);
    if (b.powered()) b.to_host_.write({&byte, 1});
  }
}

std::uint64_t SimBoard::ticks(void* self) {
  SimBoard& b = *static_cast<SimBoard*>(self);
  b.advance(kCallTicks);
  return b.now_;
}

}  // namespace thimble
