#include "ports/sim/line.hpp"

#include "core/base/philox.hpp"
#include "core/train/batches.hpp"

namespace thimble {

namespace {
constexpr std::uint64_t kLineStream = 0x11;
constexpr std::uint32_t kLongestBurst = 600;
}  // namespace

std::uint32_t SimLine::draw() { return philox(seed_, draws_++, kLineStream)[0]; }

bool SimLine::happens(double chance) { return chance > 0 && double(draw()) * 0x1p-32 < chance; }

void SimLine::write(std::span<const std::byte> bytes) {
  for (std::byte b : bytes) {
    ++written_;
    if (happens(faults_.burst)) {
      const std::uint32_t length = uniform_below(draw(), kLongestBurst);
      for (std::uint32_t i = 0; i < length; ++i) bytes_.push_back(std::byte(draw()));
      ++damaged_;
    }
    if (happens(faults_.drop)) {
      ++damaged_;
      continue;
    }
    if (happens(faults_.flip)) {
      b ^= std::byte(1u << uniform_below(draw(), 8));
      ++damaged_;
    }
    bytes_.push_back(b);
    if (happens(faults_.duplicate)) {
      bytes_.push_back(b);
      ++damaged_;
    }
  }
}

std::size_t SimLine::read(std::span<std::byte> to) {
  std::size_t count = 0;
  for (; count < to.size() && !bytes_.empty(); ++count) {
    to[count] = bytes_.front();
    bytes_.pop_front();
  }
  return count;
}

}  // namespace thimble
