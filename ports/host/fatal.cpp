#include <cstdio>
#include <cstdlib>

#include "core/base/check.hpp"

namespace thimble {

void fatal(const char* file, int line) {
  std::fprintf(stderr, "thimble: internal check failed at %s:%d\n", file, line);
  std::abort();
}

}  // namespace thimble
