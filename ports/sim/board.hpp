#pragma once
/// The host pretending to be a board: flash, serial line, clock and power, all from one seed. The memory of the program
/// is the caller's affair.

#include "ports/api/port.hpp"
#include "ports/sim/flash.hpp"
#include "ports/sim/line.hpp"

namespace thimble {

class SimBoard {
 public:
  /// An emulated processor's nominal speed.
  static constexpr std::uint64_t kTicksPerSecond = 64'000'000;
  /// What a call of the port costs, ticks.
  static constexpr std::uint64_t kCallTicks = 20;
  static constexpr std::uint64_t kByteTicks = kTicksPerSecond / 11520;  ///< a byte at 115,200 baud

  SimBoard(const FlashGeometry& geometry, const LineFaults& faults, std::uint64_t seed);

  /// The contract's functions on this board, which must outlive them.
  const Port& port() const { return port_; }

  SimFlash& flash() { return flash_; }
  SimLine& to_board() { return to_board_; }
  SimLine& to_host() { return to_host_; }

  /// Virtual time, ticks since the board was made.
  std::uint64_t now() const { return now_; }
  void advance(std::uint64_t ticks);
  /// The power fails at that time, whatever is under way. From then on the program reaches nothing.
  void cut_power_at(std::uint64_t time) { cut_at_ = time; }
  bool powered() const { return flash_.powered(); }
  void power_on();

 private:
  static std::size_t receive(void* self, std::span<std::byte> to);
  static void send(void* self, std::span<const std::byte> bytes);
  static std::uint64_t ticks(void* self);

  SimFlash flash_;
  SimLine to_board_;
  SimLine to_host_;
  std::uint64_t now_ = 0;
  std::uint64_t cut_at_ = ~std::uint64_t(0);
  Port port_;
};

}  // namespace thimble
