/// thimble inspect, thimble diff: what is in files of weights.

#include <algorithm>
#include <iostream>

#include "tools/checkpoint/checkpoint_file.hpp"
#include "tools/command/common.hpp"
#include "tools/exchange/formats.hpp"
#include "tools/exchange/tensor_values.hpp"
#include "tools/model/weights.hpp"
#include "tools/terminal/table.hpp"

namespace thimble {

namespace {

struct InspectFlags {
  std::string file;
  bool verify = false;
  bool json = false;
};

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

Json tensor_json(const StoredTensor& t, const TensorStats& s) {
  return {{"name", t.name}, {"shape", t.shape}, {"dtype", stored_type_name(t.type)}, {"norm", s.norm},
          {"min", s.min},   {"max", s.max},     {"nans", s.nans},                    {"infinities", s.infinities}};
}

/// One line, whatever the bytes.
std::string metadata_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The metadata, of which long texts are only measured.
Json metadata_json(const TensorFile& file) {
  constexpr std::size_t kLong = 200;
  Json j = Json::object();
  for (const auto& [key, value] : file.metadata()) {
    if (key == "config") {
      j[key] = Json::parse(value, nullptr, false);
    } else if (value.size() > kLong) {
      j[key] = std::to_string(value.size()) + " bytes";
    } else {
      j[key] = value;
    }
  }
  return j;
}

/// What only a checkpoint tells.
Json progress_json(const CheckpointHeader& h) {
  const auto& p = h.progress;
  return {{"format_version", h.format_version},
          {"arithmetic_version", h.arithmetic_version},
          {"profile", h.profile == thimble_checkpoint_Profile_PROFILE_SEPARATE ? "separate" : "fused"},
          {"optimizer", h.optimizer.kind == thimble_checkpoint_OptimizerKind_OPTIMIZER_KIND_SGD ? "sgd" : "adamw"},
          {"step", p.step},
          {"learning_rate", p.learning_rate},
          {"seed", p.seed},
          {"data_cursor", p.data_cursor},
          {"tokens", p.tokens},
          {"running_loss", p.running_loss},
          {"accumulate", p.accumulate},
          {"window_micro_batches", p.window_micro_batches}};
}

/// An Error at the first value that is not finite, and at the first tensor that the model it names does not have so.
void verify(const TensorFile& file, const std::vector<StoredTensor>& tensors) {
  for (const StoredTensor& t : tensors) require_finite(file, t);
  const auto named = file.metadata().find("model");
  if (named == file.metadata().end()) return;
  const auto& models = all_models();
  const auto model = std::ranges::find(models, named->second, &Model::name);
  if (model == models.end()) return;
  for (int i = 0; i < model->tape.size; ++i) {
    const Value& v = model->tape[i];
    if (v.role != Role::parameter) continue;
    file.require(v.name.view(), stored_shape(v.shape));
  }
}

void inspect(const InspectFlags& flags) {
  const auto file = open_weights(flags.file);
  std::vector<StoredTensor> tensors = file->tensors();
  const auto* const checkpoint = dynamic_cast<const CheckpointFile*>(file.get());
  if (checkpoint != nullptr) {
    tensors.insert(tensors.end(), checkpoint->other_tensors().begin(), checkpoint->other_tensors().end());
  }
  if (flags.verify) verify(*file, tensors);
  std::uint64_t parameters = 0;
  for (const StoredTensor& t : file->tensors()) parameters += t.element_count();
  const auto digest = digest_of(file->tensors());

  Json j{{"file", flags.file}, {"format", file->format()}, {"bytes", std::filesystem::file_size(file->path())},
         {"parameters", parameters}, {"tensors", Json::array()}, {"metadata", metadata_json(*file)}};
  if (digest) j["digest"] = digest_text(*digest);
  if (checkpoint != nullptr) j["run"] = progress_json(checkpoint->header());
  if (flags.verify) j["verified"] = true;
  Table table({"tensor", "shape", "type", "norm", "min", "max", "NaN", "inf"});
  for (const StoredTensor& t : tensors) {
    const TensorStats s = stats_of(t);
    j["tensors"].push_back(tensor_json(t, s));
    table.add_row({t.name, shape_text(t.shape), std::string(stored_type_name(t.type)), short_number(s.norm),
                   short_number(s.min), short_number(s.max), std::to_string(s.nans), std::to_string(s.infinities)});
  }
  if (flags.json) return print_json(j);

  std::cout << flags.file << ": " << file->format() << ", " << grouped(std::int64_t(parameters)) << " parameters in "
            << file->tensors().size() << " tensors";
  if (digest) std::cout << ", digest " << digest_text(*digest);
  std::cout << (flags.verify ? ", verified\n" : "\n");
  for (const auto& [key, value] : j["metadata"].items()) std::cout << "  " << key << ": " << metadata_text(value) << "\n";
  if (j.contains("run")) {
    for (const auto& [key, value] : j["run"].items()) std::cout << "  " << key << ": " << value.dump() << "\n";
  }
  std::cout << "\n" << table.text();
}

struct DiffFlags {
  std::string a, b;
  bool json = false;
};

constexpr int kDifferentStatus = 1;

/// 0 where every tensor is there in both, with the same values.
int diff(const DiffFlags& flags) {
  const auto a = open_weights(flags.a), b = open_weights(flags.b);
  Json list = Json::array();
  Table table({"tensor", "difference", "relative", "at", "values that differ"});
  const auto add = [&](const std::string& name, const std::string& what) {
    list.push_back({{"name", name}, {"difference", what}});
    table.add_row({name, what});
  };
  for (const StoredTensor& t : a->tensors()) {
    const StoredTensor* const other = b->find(t.name);
    if (other == nullptr) {
      add(t.name, "only in the first");
    } else if (other->shape != t.shape) {
      add(t.name, shape_text(t.shape) + " against " + shape_text(other->shape));
    } else if (const TensorDifference d = difference_of(t, *other); d.count > 0) {
      const std::string place = place_text(t.shape, d.place);
      list.push_back({{"name", t.name}, {"largest", d.largest}, {"relative", d.relative}, {"at", place},
                      {"count", d.count}});
      table.add_row({t.name, short_number(d.largest), short_number(d.relative), place, std::to_string(d.count)});
    }
  }
  for (const StoredTensor& t : b->tensors()) {
    if (a->find(t.name) == nullptr) add(t.name, "only in the second");
  }
  if (flags.json) {
    print_json({{"equal", list.empty()}, {"tensors", a->tensors().size()}, {"differences", list}});
  } else if (list.empty()) {
    std::cout << "all " << a->tensors().size() << " tensors are equal\n";
  } else {
    std::cout << table.text();
  }
  return list.empty() ? 0 : kDifferentStatus;
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  const auto flags = std::make_shared<InspectFlags>();
  CLI::App* const c = app.add_subcommand("inspect", "Show what is in a file of weights or a checkpoint");
  c->add_option("file", flags->file, "The file, of any format that thimble reads")->required();
  c->add_flag("--verify", flags->verify, "Also fail where a value is not finite or a tensor does not fit its model");
  c->add_flag("--json", flags->json, "One JSON object on standard output");
  c->callback([flags] { inspect(*flags); });
}

void add_diff_command(CLI::App& app) {
  const auto flags = std::make_shared<DiffFlags>();
  CLI::App* const c = app.add_subcommand("diff", "Compare the weights of two files; exit status 1 where they differ");
  c->add_option("a", flags->a, "A file of weights")->required();
  c->add_option("b", flags->b, "Another one, maybe of another format")->required();
  c->add_flag("--json", flags->json, "One JSON object on standard output");
  c->callback([flags] {
    if (const int status = diff(*flags); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace thimble
