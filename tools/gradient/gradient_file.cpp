#include "tools/gradient/gradient_file.hpp"

#include "tools/files/safetensors_writer.hpp"

namespace thimble {

void write_gradients(const std::filesystem::path& path, const GradientReport& report,
                     const std::optional<NamedTensor>& influence) {
  std::vector<NamedTensor> all = report.weights;
  for (const NamedTensor& s : report.stops) {
    all.push_back(s);
    all.back().name = "stop." + s.name;
  }
  if (influence) all.push_back(*influence);
  all.push_back({"loss", {}, {report.loss}});

  SafetensorsWriter writer(path);
  for (const NamedTensor& t : all) {
    writer.declare(t.name, StoredType::kF64, std::vector<std::uint64_t>(t.shape.begin(), t.shape.end()));
  }
  for (const NamedTensor& t : all) writer.append(t.name, std::span<const double>(t.data));
  writer.commit();
}

}  // namespace thimble
