#include "tools/model/weights.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"
#include "tools/model/gpt_config.hpp"

namespace thimble {

std::vector<std::uint64_t> stored_shape(const Shape& s) {
  if (s.rank == 0) return {};
  if (s.rank == 1) return {std::uint64_t(s.cols)};
  return {std::uint64_t(s.fixed_rows), std::uint64_t(s.cols)};
}

void require_finite(const TensorFile& file, const StoredTensor& tensor) {
  if (const auto at = first_non_finite(tensor)) {
    throw Error(file.path().string() + ", tensor " + in_quotes(tensor.name),
                "the value at " + place_text(tensor.shape, *at) + " is not a finite number",
                "a training run that diverged may have written it; take an earlier file");
  }
}

namespace {

constexpr std::string_view kPrefix = "transformer.";

std::string_view without_prefix(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

/// The name under which a file holds a weight.
std::string stored_name(const TensorFile& file, std::string_view name) {
  const std::string prefixed = std::string(kPrefix) + std::string(name);
  return file.find(name) == nullptr && file.find(prefixed) != nullptr ? prefixed : std::string(name);
}

/// Tensors that no weight reads: Hugging Face's masks, and a tied head's second copy.
void check_left_over(const TensorFile& file, const StoredTensor& t, const Model& model) {
  const std::string_view name = without_prefix(t.name);
  if (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")) return;
  const std::string where = file.path().string() + ", tensor " + in_quotes(t.name);
  if (name == "lm_head.weight" && model.gpt && model.gpt->tied_head) {
    const StoredTensor* const table = file.find(stored_name(file, "wte.weight"));
    const bool equal = table != nullptr && table->shape == t.shape && table->type == t.type &&
                       std::ranges::equal(table->bytes, t.bytes);
    if (equal) return;
    throw Error(where, "differs from wte.weight, but the head of " + model.name + " is tied to it",
                "take a model whose head is its own");
  }
  throw Error(where, "the model " + model.name + " has no such weight",
              "is it a file of another model? thimble inspect shows its shapes");
}

/// Weights have no sign of their own of the activation or the number of heads: the file's metadata has.
void check_origin(const TensorFile& file, const Model& model, Origin origin) {
  const std::string where = file.path().string();
  if (const auto config = gpt_config_from(file.metadata(), where); config && model.gpt) {
    const auto theirs = nlohmann::json::parse(gpt_config_json(*config));
    const auto ours = nlohmann::json::parse(gpt_config_json(*model.gpt));
    for (const auto& [key, value] : ours.items()) {
      if (theirs[key] == value) continue;
      throw Error(where, "is of a GPT with " + key + " " + theirs[key].dump() + "; " + model.name + " has " + value.dump(),
                  "take the model that it is of");
    }
    return;
  }
  if (origin == Origin::any_name) return;
  const auto named = file.metadata().find("model");
  if (named == file.metadata().end() || named->second == model.name) return;
  throw Error(where, "is of the model " + in_quotes(named->second) + ", not " + model.name,
              "thimble import takes what fits all the same");
}

}  // namespace

template <class real>
void load_weights(Session<real>& session, const TensorFile& file, Origin origin) {
  check_origin(file, session.model(), origin);
  const auto& parameters = session.prepared().parameters;
  std::map<std::string, const StoredTensor*, std::less<>> used;
  for (const ParameterSlots& p : parameters) {
    const std::string name = stored_name(file, session.name_of(p));
    const StoredTensor& t = file.require(name, stored_shape(session.model().tape[p.value].shape));
    require_finite(file, t);
    used.emplace(name, &t);
  }
  for (const StoredTensor& t : file.tensors()) {
    if (!used.contains(t.name)) check_left_over(file, t, session.model());
  }
  // Only F64 to F32 can fail, at a value that is too large: tried before the first weight changes.
  for (const auto& [name, tensor] : used) {
    if (sizeof(real) == 8 || tensor->type != StoredType::kF64) continue;
    std::vector<real> values(tensor->element_count());
    file.read_into(*tensor, std::span<real>(values));
  }
  for (const ParameterSlots& p : parameters) {
    file.read_into(*used.at(stored_name(file, session.name_of(p))), session.engine().weight(p));
  }
}

template <class real>
SessionWeights<real>::SessionWeights(const Session<real>& session, std::map<std::string, std::string> metadata)
    : TensorFile(session.model().name, "session") {
  for (const ParameterSlots& p : session.prepared().parameters) {
    add({std::string(session.name_of(p)), stored_type_of<real>(), stored_shape(session.model().tape[p.value].shape),
         std::as_bytes(session.engine().weight(p))});
  }
  metadata["model"] = session.model().name;
  metadata["step"] = std::to_string(session.engine().step());
  if (session.model().gpt) metadata["config"] = gpt_config_json(*session.model().gpt);
  set_metadata(std::move(metadata));
}

template void load_weights(Session<float>&, const TensorFile&, Origin);
template void load_weights(Session<double>&, const TensorFile&, Origin);
template class SessionWeights<float>;
template class SessionWeights<double>;

}  // namespace thimble
