#pragma once
/// What all subcommands share: the common flags, how a session is opened, how results are printed.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"
#include "tools/model/session.hpp"

namespace thimble {

using Json = nlohmann::ordered_json;

/// Flags that every subcommand takes.
struct CommonFlags {
  bool json = false;
  std::string real = "f32";
  std::string isa = "auto";
  std::string profile = "fused";
  int threads = 0;  ///< 0: as many as there are processors
  std::uint64_t seed = 1;

  void add_to(CLI::App& command);
  /// Without --real and --profile, where a board decides.
  void add_without_arithmetic_to(CLI::App& command);
  int thread_count() const { return threads > 0 ? threads : ThreadTeam::available(); }
  int real_bytes() const { return real == "f64" ? 8 : 4; }
};

/// Batch, context and schedule, for the subcommands that lay out an arena.
struct LayoutFlags {
  int batch = 0;    ///< 0: the model's default
  int context = 0;  ///< 0: the model's default
  std::string recompute;  ///< empty: the model's
  bool fuse_update = false;

  void add_to(CLI::App& command);
  /// For those that train.
  void add_fuse_update_to(CLI::App& command);
  Extent extent_for(const Model& model) const;
  std::string recompute_for(const Model& model) const;
};

/// Of the option --recompute.
inline constexpr const char* kRecomputeHelp =
    "Which activations are computed again for backward: none, elements (GELU and its like), blocks (all but block "
    "inputs), or a comma-separated list of the values to keep (* stands for any characters); default: the model's own, "
    "which plan (or, for images, board list) goes by";

/// Of the option --tokenizer.
inline constexpr const char* kTokenizerHelp =
    "GPT-2's tokenizer: a folder with tokenizer.json, or vocab.json and merges.txt, or one of these files; default: the "
    "one in the weights, or beside them";

SessionOptions session_options(const CommonFlags& common, const Extent& extent);

/// Calls f.template operator()<real>() with the number type of --real.
template <class F>
auto with_real(const CommonFlags& common, F f) {
  if (common.real == "f64") return f.template operator()<double>();
  return f.template operator()<float>();
}

/// For --from-host: an Error where a micro-batch of the model's has several rows. A window on the line is one.
void require_one_row(const Model& model);

/// Checks of a flag's value: a decimal whole number, a finite number, from `low` to `high`.
CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);
CLI::Validator real_number(double low, double high);

/// Check of a file's name: not empty, which would mean that it was not given.
CLI::Validator file_name();

/// The finite number that is all of `text`, or nothing.
std::optional<double> finite_number(const std::string& text);

/// Sixteen hexadecimal digits.
std::string digest_text(std::uint64_t digest);

/// Prints one JSON object and a newline on standard output.
void print_json(const Json& object);

// The subcommands. Each adds itself to the application and runs from its callback.
void add_models_command(CLI::App& app);
void add_plan_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_sample_command(CLI::App& app);
void add_grad_command(CLI::App& app);
void add_gradcheck_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_tokenize_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_diff_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_import_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_board_command(CLI::App& app);
void add_sim_command(CLI::App& app);

}  // namespace thimble
