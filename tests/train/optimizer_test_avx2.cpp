#include "tests/train/optimizer_test_impl.hpp"

namespace thimble_test {

#if defined(__AVX2__) && defined(__FMA__)
const Updates* avx2_updates() {
  return updates<thimble::Avx2>("avx2");
}
#else
const Updates* avx2_updates() {
  return nullptr;
}
#endif

}  // namespace thimble_test
