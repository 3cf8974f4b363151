#include "tests/train/optimizer_test_impl.hpp"

namespace thimble_test {

#if defined(__AVX512F__) && defined(__AVX512DQ__)
const Updates* avx512_updates() {
  return updates<thimble::Avx512>("avx512");
}
#else
const Updates* avx512_updates() {
  return nullptr;
}
#endif

}  // namespace thimble_test
