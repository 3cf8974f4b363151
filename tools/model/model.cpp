#include "tools/model/model.hpp"

namespace thimble {

std::int64_t Model::parameter_count() const {
  std::int64_t n = 0;
  for (int i = 0; i < tape.size; ++i) {
    if (tape[i].role == Role::parameter) n += tape[i].shape.count({});
  }
  return n;
}

}  // namespace thimble
