#include "tests/train/update_kernels.hpp"

namespace thimble_test {

const Updates* avx512_updates() {
  return updates<thimble::Avx512>("avx512");
}

}  // namespace thimble_test
