/// thimble export, import, convert: weights from one format to another.

#include <iostream>

#include "tools/checkpoint/checkpoint_file.hpp"
#include "tools/command/common.hpp"
#include "tools/exchange/formats.hpp"
#include "tools/model/weights.hpp"

namespace thimble {

namespace {

struct ConvertFlags {
  std::string from, to, model, format;
  std::string real = "f32";
  bool json = false;
};

void report(const ConvertFlags& f, const TensorFile& source, const WeightsFormat& format) {
  std::uint64_t parameters = 0;
  for (const StoredTensor& t : source.tensors()) parameters += t.element_count();
  if (f.json) {
    return print_json({{"from", f.from}, {"to", f.to}, {"format", format.name}, {"parameters", parameters},
                       {"tensors", source.tensors().size()}});
  }
  std::cout << f.to << ": " << format.name << ", " << source.tensors().size() << " tensors\n";
}

/// Neither the source nor a run's checkpoint may be lost.
void require_free(const ConvertFlags& f) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(f.to, error)) return;
  if (std::filesystem::equivalent(f.from, f.to, error)) throw Error(f.to, "is the source itself", "give another file");
  const WeightsFormat* const format = recognised_format(f.to);
  if (format != nullptr && format->recognises == CheckpointFile::recognises) {
    throw Error(f.to, "is a checkpoint", "remove it first, or give another file");
  }
}

void write(const ConvertFlags& f, const TensorFile& source, const WeightsFormat& format) {
  require_free(f);
  format.write(f.to, source);
  report(f, source, format);
}

template <class real>
void import_weights(const ConvertFlags& f) {
  const WeightsFormat& format = format_of(f.to);
  const Model& model = find_model(f.model);
  const auto source = open_weights(f.from);
  SessionOptions options;
  options.extent = {1, 1};
  options.gradients = false;
  options.moments = 0;
  Session<real> session(model, options);
  load_weights(session, *source, Origin::any_name);
  std::map<std::string, std::string> metadata;
  const auto tokenizer = source->metadata().find("tokenizer");
  if (tokenizer != source->metadata().end()) metadata.insert(*tokenizer);
  write(f, SessionWeights<real>(session, metadata), format);
}

std::string formats_help() {
  std::string text;
  for (const WeightsFormat& f : weights_formats()) {
    if (f.write != nullptr) text += (text.empty() ? "" : "; ") + f.name + ": " + f.description;
  }
  return text;
}

}  // namespace

void add_export_command(CLI::App& app) {
  const auto flags = std::make_shared<ConvertFlags>();
  CLI::App* const c = app.add_subcommand("export", "Write the weights of a file for another program");
  c->add_option("file", flags->from, "The file, of any format that thimble reads")->required();
  c->add_option("out", flags->to, "The new file, or folder")->required();
  c->add_option("--to", flags->format, formats_help())->required();
  c->add_flag("--json", flags->json, "One JSON object on standard output");
  c->callback([flags] {
    const WeightsFormat& format = format_named(flags->format);
    write(*flags, *open_weights(flags->from), format);
  });
}

void add_convert_command(CLI::App& app) {
  const auto flags = std::make_shared<ConvertFlags>();
  CLI::App* const c = app.add_subcommand("convert", "The same, with the format named by the new file's ending");
  c->add_option("file", flags->from, "The file, of any format that thimble reads")->required();
  c->add_option("out", flags->to, "The new file")->required();
  c->add_flag("--json", flags->json, "One JSON object on standard output");
  c->callback([flags] {
    const WeightsFormat& format = format_of(flags->to);
    write(*flags, *open_weights(flags->from), format);
  });
}

void add_import_command(CLI::App& app) {
  const auto flags = std::make_shared<ConvertFlags>();
  CLI::App* const c =
      app.add_subcommand("import", "Check another program's weights against a model, and write them under its names");
  c->add_option("file", flags->from, "The file, or a Hugging Face folder")->required();
  c->add_option("out", flags->to, "The new file; its ending names the format")->required();
  c->add_option("--model", flags->model, "The model whose weights they are")->required();
  c->add_option("--real", flags->real, "Number type of the new file: f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  c->add_flag("--json", flags->json, "One JSON object on standard output");
  c->callback([flags] { flags->real == "f64" ? import_weights<double>(*flags) : import_weights<float>(*flags); });
}

}  // namespace thimble
