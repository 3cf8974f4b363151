#pragma once
/// The matrix products of a training step, read off a model's tape.

#include <string>
#include <vector>

#include "core/ops/list.hpp"

namespace thimble {

struct ProductShape {
  ProductKind kind;
  std::int64_t m, n, k;
  std::string user;  ///< model and value, of the first that asks for it

  bool operator==(const ProductShape& o) const { return kind == o.kind && m == o.m && n == o.n && k == o.k; }
  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
};

/// Appends the products that a step of `tape` computes, those that are not in the list already.
inline void add_product_shapes(const std::string& model, TapeView tape, const Extent& extent,
                               std::vector<ProductShape>& list) {
  using enum ProductKind;
  const auto add = [&](const Value& v, ProductKind kind, std::int64_t m, std::int64_t n, std::int64_t k) {
    const ProductShape shape{kind, m, n, k, model + " " + std::string(v.name.view())};
    if (std::find(list.begin(), list.end(), shape) == list.end()) list.push_back(shape);
  };
  for (int i = 0; i < tape.size; ++i) {
    const Value& v = tape[i];
    const std::int64_t in = v.dims.in, out = v.dims.out;
    if (v.op == Linear::name.hash) {
      const std::int64_t rows = v.shape.rows(extent);
      add(v, nn, rows, out, in);
      add(v, nt, rows, in, out);
      add(v, tn, in, out, rows);
    } else if (v.op == Head::name.hash || v.op == HeadCrossEntropy::name.hash) {
      const std::int64_t tokens = v.shape.rows(extent);
      const std::int64_t rows = v.op == Head::name.hash ? tokens : std::min<std::int64_t>(tokens, v.dims.option);
      add(v, nt, rows, out, in);
      add(v, nn, rows, in, out);
      add(v, tn, out, in, rows);
    }
  }
}

}  // namespace thimble
