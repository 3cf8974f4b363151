// message: the number of heads must divide the width
#include "models/gpt.hpp"

struct Model {
#ifdef THIMBLE_BAD
  static constexpr int kHeads = 3;
#else
  static constexpr int kHeads = 4;
#endif
  static constexpr thimble::GptConfig kConfig{
      .vocabulary = 8, .context = 4, .width = 16, .heads = kHeads, .layers = 1};
  static constexpr void build(thimble::TapeBuilder& t) { thimble::build_gpt(t, kConfig); }
};

static_assert(thimble::tape_of<Model>.size > 0);
