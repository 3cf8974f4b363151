#include "tests/train/update_kernels.hpp"

namespace thimble_test {

const Updates* plain_fused_updates() {
  return updates<thimble::Plain<thimble::Profile::fused>>("plain, fused");
}
const Updates* plain_separate_updates() {
  return updates<thimble::Plain<thimble::Profile::separate>>("plain, separate");
}

}  // namespace thimble_test
