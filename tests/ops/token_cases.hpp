#pragma once
/// Cases of the ops that know about tokens: embedding, positions, history.

#include "core/ops/embedding.hpp"
#include "core/ops/history.hpp"
#include "core/ops/positional.hpp"
#include "tests/ops/op_case.hpp"

namespace thimble_test {

template <int V, int C>
struct EmbeddingCase {
  using Op = thimble::Embedding;
  /// Forward is a copy; a row of the table adds at most one term per token (10) and what was there.
  static constexpr Tolerance tolerance = {.forward = 0, .backward = 11, .of = Tolerance::Of::terms};
  static constexpr int ids_below = V;
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId ids = t.ids("ids");
    embedding(t, "y", ids, t.parameter("table", Shape::matrix(V, C), Init::normal(1)));
  }
};

/// A table of T rows, for sequences of at most 5 tokens.
template <int T, int C>
struct PositionalCase {
  using Op = thimble::Positional;
  /// One sum in forward; one per sequence (2) and what was there in backward.
  static constexpr Tolerance tolerance = {.forward = 1, .backward = 3, .of = Tolerance::Of::terms};
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    const ValueId x = t.input("x", Shape::per_token(C), Init::normal(1));
    positional(t, "y", x, t.parameter("table", Shape::matrix(T, C), Init::normal(1)));
  }
};

template <int n, int C>
struct HistoryCase {
  using Op = thimble::History;
  /// Forward is a copy; n terms and what was there in backward.
  static constexpr Tolerance tolerance = {.forward = 0, .backward = n + 1, .of = Tolerance::Of::terms};
  static constexpr void build(thimble::TapeBuilder& t) {
    using namespace thimble;
    history(t, "y", t.input("x", Shape::per_token(C), Init::normal(1)), n);
  }
};

using EmbeddingCases = CaseList<EmbeddingCase<3, 1>, EmbeddingCase<7, 6>, EmbeddingCase<5, 15>,
                                EmbeddingCase<5, 16>, EmbeddingCase<27, 17>, EmbeddingCase<1, 35>>;
using PositionalCases = CaseList<PositionalCase<5, 1>, PositionalCase<8, 6>, PositionalCase<6, 15>,
                                 PositionalCase<6, 16>, PositionalCase<9, 17>, PositionalCase<5, 35>>;
using HistoryCases = CaseList<HistoryCase<1, 3>, HistoryCase<4, 3>, HistoryCase<2, 1>, HistoryCase<3, 15>,
                              HistoryCase<3, 16>, HistoryCase<7, 17>, HistoryCase<2, 35>>;
using TokenCases = JoinedCases<EmbeddingCases, PositionalCases, HistoryCases>;

}  // namespace thimble_test
