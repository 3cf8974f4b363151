#pragma once
/// Checks that cross-entropy and its fused form share. Include this header last.

#include <limits>

#include "tests/ops/op_test.hpp"

namespace thimble_test {

/// Calls f(implementation, real()) for all implementations, in float and double.
template <class F>
void each_implementation(const Problem& p, F f) {
  for (const auto& i : implementations_of<float>(p)) f(i, float());
  for (const auto& i : implementations_of<double>(p)) f(i, double());
}

/// A row of ignored targets gives loss 0 and a gradient of zeros in its row of operand 0; the other rows do
/// not notice.
inline void check_ignored_rows(Problem p, int targets) {
  auto& ids = p.ids[std::size_t(targets)];
  const std::size_t rows = ids.size();
  const Problem all = p;
  for (std::size_t r = 0; r < rows; r += 3) ids[r] = thimble::kIgnoredTarget;
  check_kernels(p);
  check_gradient(p);
  each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
    const Result<real> with = run(all, i.kernels), without = run(p, i.kernels);
    const std::size_t cols = with.gradients[0].size() / rows;
    for (std::size_t r = 0; r < rows; ++r) {
      const bool counts = r % 3 != 0;
      CHECK(without.out[r] == (counts ? with.out[r] : real(0)));
      for (std::size_t c = r * cols; c < (r + 1) * cols; ++c) {
        CHECK(without.gradients[0][c] == (counts ? with.gradients[0][c] : real(0)));
      }
    }
  });
}

/// Nothing counts: all losses and all gradients are 0.
inline void check_all_ignored(Problem p, int targets) {
  for (auto& id : p.ids[std::size_t(targets)]) id = thimble::kIgnoredTarget;
  check_kernels(p);
  each_implementation(p, [&]<class real>(const Implementation<real>& i, real) {
    const Result<real> r = run(p, i.kernels);
    for (const real loss : r.out) CHECK(loss == 0);
    for (const auto& gradient : r.gradients) {
      for (const real g : gradient) CHECK(g == 0);
    }
  });
}

/// All implementations, overwriting, in aligned storage, with one and with three workers.
inline void check_plainly(const Problem& p) {
  detail::Expectation e{run(p, p.reference), {}};
  e.magnitude = e.result;
  e.magnitude.out.assign(e.result.out.size(), detail::largest(e.result.out));
  for (auto& gradient : e.magnitude.gradients) gradient.assign(gradient.size(), detail::largest(gradient));
  detail::check_modes<float>(p, {{}, {.workers = 3}}, e);
  detail::check_modes<double>(p, {{}, {.workers = 3}}, e);
}

/// The last symbol of the vocabulary is as good a target as the first.
inline void check_outermost_targets(Problem p, int targets, int vocabulary) {
  auto& ids = p.ids[std::size_t(targets)];
  for (std::size_t r = 0; r < ids.size(); ++r) ids[r] = r % 2 == 0 ? vocabulary - 1 : 0;
  check_kernels(p);
  check_gradient(p);
}

}  // namespace thimble_test
