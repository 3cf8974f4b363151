// message: every value needs a name of its own
#include "core/ops/list.hpp"

struct Model {
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId x = t.input("x", Shape::scalar(), Init::constant(1));
#ifdef THIMBLE_BAD
    tanh(t, "x", x);
#else
    tanh(t, "y", x);
#endif
  }
};

static_assert(thimble::tape_of<Model>.size == 2);
