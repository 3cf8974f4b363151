// message: linear: the weight [in, out] needs one row per column of x
#include "core/ops/list.hpp"

struct Model {
#ifdef THIMBLE_BAD
  static constexpr int kRows = 9;
#else
  static constexpr int kRows = 8;
#endif
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId x = t.input("x", Shape::matrix(2, 8), Init::constant(1));
    const ValueId w = t.parameter("w", Shape::matrix(kRows, 4), Init::constant(1));
    linear(t, "y", x, w, kNoValue);
  }
};

static_assert(thimble::tape_of<Model>.size == 3);
