#include "tools/model/model.hpp"

#include <sstream>

namespace thimble {

RecomputeChoice recompute_choice(const std::string& text) {
  RecomputeChoice c;
  if (text == "none") return c;
  if (text == "elements" || text == "blocks") {
    c.kind = text == "blocks" ? RecomputeChoice::Kind::blocks : RecomputeChoice::Kind::elements;
    return c;
  }
  c.kind = RecomputeChoice::Kind::list;
  std::istringstream in(text);
  for (std::string name; std::getline(in, name, ',');) c.kept.push_back(name);
  return c;
}

std::int64_t Model::parameter_count() const {
  std::int64_t n = 0;
  for (int i = 0; i < tape.size; ++i) {
    if (tape[i].role == Role::parameter) n += tape[i].shape.count({});
  }
  return n;
}

}  // namespace thimble
