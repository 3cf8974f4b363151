#pragma once
/// How weights start: numbers from a seed, the same on every machine and in any order of drawing.

#include "core/base/philox.hpp"
#include "core/base/scalar_math.hpp"
#include "core/base/worker.hpp"
#include "core/tape/tape.hpp"

namespace thimble {

/// Two independent standard normal numbers for (seed, stream, counter): Box and Muller's transform.
struct NormalPair {
  double first = 0;
  double second = 0;
};

inline NormalPair normal_pair(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  const auto w = philox(seed, counter, stream);
  constexpr double two_pi = 6.283185307179586;
  const double u = (double(w[0]) + 1) * 0x1p-32;  // in (0, 1]
  const double angle = two_pi * (double(w[1]) * 0x1p-32);
  const double radius = scalar_sqrt(-2 * scalar_log(u));
  return {radius * scalar_cos(angle), radius * scalar_sin(angle)};
}

/// Fills x[0..count) as `init` says. Elements 2 i and 2 i + 1 come from counter i of the stream of that tensor.
template <class real>
void fill_initial(real* x, std::int64_t count, const Init& init, std::uint64_t seed, std::uint32_t tensor,
                  const Worker& worker) {
  const Range range = worker.share(count, 16);
  const std::uint64_t stream = (std::uint64_t(Stream::init) << 32) | tensor;
  for (std::int64_t i = range.begin; i < range.end; i += 2) {
    NormalPair n = {1, 1};
    if (init.kind == Init::Kind::normal) n = normal_pair(seed, stream, std::uint64_t(i) / 2);
    x[i] = real(n.first * init.scale);
    if (i + 1 < range.end) x[i + 1] = real(n.second * init.scale);
  }
}

}  // namespace thimble
