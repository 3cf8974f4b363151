// The counter-based generator the tests draw with.
#pragma once

#include <cstdint>

#include "core/base/philox.hpp"

namespace thimble::test {

struct PhiloxWords {
  std::uint64_t seed = 0;

  std::uint32_t operator()(std::uint64_t counter) const { return philox(seed, counter)[0]; }
};

}  // namespace thimble::test
