#include "tools/model/weights.hpp"

#include "tools/files/error.hpp"
#include "tools/files/safetensors.hpp"
#include "tools/files/safetensors_writer.hpp"

namespace thimble {

namespace {

std::vector<std::uint64_t> stored_shape(const Shape& s) {
  if (s.rank == 0) return {};
  if (s.rank == 1) return {std::uint64_t(s.cols)};
  return {std::uint64_t(s.fixed_rows), std::uint64_t(s.cols)};
}

void check_value(const SafetensorsFile& file, const StoredTensor& tensor) {
  if (const auto at = first_non_finite(tensor)) {
    throw Error(file.path().string() + ", tensor " + in_quotes(tensor.name),
                "the value at " + place_text(tensor.shape, *at) + " is not a finite number",
                "a training run that diverged may have written it; take an earlier file");
  }
}

}  // namespace

template <class real>
std::map<std::string, std::string> load_weights(Session<real>& session, const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  const auto& parameters = session.prepared().parameters;
  for (const ParameterSlots& p : parameters) {
    const auto shape = stored_shape(session.model().tape[p.value].shape);
    check_value(file, file.require(session.name_of(p), shape));
  }
  if (file.tensors().size() > parameters.size()) {
    for (const StoredTensor& t : file.tensors()) {
      bool known = false;
      for (const ParameterSlots& p : parameters) known = known || session.name_of(p) == t.name;
      if (!known) {
        throw Error(path.string() + ", tensor " + in_quotes(t.name),
                    "the model " + session.model().name + " has no such weight",
                    "is it a file of another model? thimble models --json shows the shapes of each");
      }
    }
  }
  for (const ParameterSlots& p : parameters) {
    file.read_into(*file.find(session.name_of(p)), session.engine().weight(p));
  }
  return file.metadata();
}

template <class real>
void save_weights(const Session<real>& session, const std::filesystem::path& path,
                  const std::map<std::string, std::string>& metadata) {
  SafetensorsWriter writer(path);
  for (const auto& [key, value] : metadata) writer.set_metadata(key, value);
  const auto& parameters = session.prepared().parameters;
  for (const ParameterSlots& p : parameters) {
    writer.declare(std::string(session.name_of(p)), stored_type_of<real>(),
                   stored_shape(session.model().tape[p.value].shape));
  }
  for (const ParameterSlots& p : parameters) {
    writer.append(session.name_of(p), std::span<const real>(session.engine().weight(p)));
  }
  writer.commit();
}

template std::map<std::string, std::string> load_weights(Session<float>&, const std::filesystem::path&);
template std::map<std::string, std::string> load_weights(Session<double>&, const std::filesystem::path&);
template void save_weights(const Session<float>&, const std::filesystem::path&,
                           const std::map<std::string, std::string>&);
template void save_weights(const Session<double>&, const std::filesystem::path&,
                           const std::map<std::string, std::string>&);

}  // namespace thimble
