#include "tools/files/error.hpp"
#include "tools/model/model.hpp"
#include "tools/model/registry.hpp"

namespace thimble {

const std::vector<Model>& all_models() {
  static const std::vector<Model> models = registered_models();
  return models;
}

const Model& find_model(const std::string& name) {
  std::vector<std::string> names;
  for (const Model& m : all_models()) {
    if (m.name == name) return m;
    names.push_back(m.name);
  }
  const std::string near = did_you_mean(name, names);
  throw Error("model", "there is no model " + in_quotes(name), near + (near.empty() ? "" : " ") + "thimble models lists them");
}

}  // namespace thimble
