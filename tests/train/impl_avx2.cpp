#include "tests/train/update_kernels.hpp"

namespace thimble_test {

const Updates* avx2_updates() {
  return updates<thimble::Avx2>("avx2");
}

}  // namespace thimble_test
