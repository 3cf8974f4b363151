#include "tools/command/common.hpp"

#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace thimble {

void CommonFlags::add_to(CLI::App& command) {
  add_without_arithmetic_to(command);
  command.add_option("--real", real, "Number type: f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  command.add_option("--profile", profile, "Multiply-add: fused (one rounding) or separate (two)")
      ->check(CLI::IsMember({"fused", "separate"}))
      ->capture_default_str();
}

void CommonFlags::add_without_arithmetic_to(CLI::App& command) {
  command.add_flag("--json", json, "One JSON object on standard output");
  command.add_option("--isa", isa, "Instruction set: avx512, avx2, plain or auto")
      ->check(CLI::IsMember({"avx512", "avx2", "plain", "auto"}))
      ->capture_default_str();
  command.add_option("--threads", threads, "Threads; 0: one a processor. The bits do not depend on it")
      ->check(whole_number(0, 256))
      ->capture_default_str();
  command.add_option("--seed", seed, "Seed of all random numbers")
      ->check(whole_number(0, ~std::uint64_t(0)))
      ->capture_default_str();
}

void LayoutFlags::add_to(CLI::App& command) {
  command.add_option("--batch", batch, "Sequences in a step; 0: the model's default")
      ->check(whole_number(0, 65536))
      ->capture_default_str();
  command.add_option("--context", context, "Tokens in a sequence; 0: the model's default")
      ->check(whole_number(0, 1 << 20))
      ->capture_default_str();
  command.add_option("--recompute", recompute, kRecomputeHelp);
}

void LayoutFlags::add_fuse_update_to(CLI::App& command) {
  command.add_flag("--fuse-update", fuse_update,
                   "Update each weight within the backward pass, as soon as its gradient is whole: no memory for "
                   "gradients, the same bits; needs --clip 0 and one micro-batch a step");
}

std::string LayoutFlags::recompute_for(const Model& model) const {
  return recompute.empty() ? model.recompute : recompute;
}

Extent LayoutFlags::extent_for(const Model& model) const {
  Extent e = model.extent;
  if (batch > 0) e.batch = batch;
  if (context > 0) e.context = context;
  if (e.context > model.context_limit()) {
    throw Error("--context", std::to_string(e.context) + " tokens are more than the " +
                                 std::to_string(model.context_limit()) + " positions of " + model.name, "");
  }
  return e;
}

SessionOptions session_options(const CommonFlags& common, const Extent& extent) {
  SessionOptions o;
  o.extent = extent;
  o.threads = common.thread_count();
  o.isa = isa_from(common.isa);
  o.profile = common.profile == "separate" ? Profile::separate : Profile::fused;
  return o;
}

void require_one_row(const Model& model) {
  if (model.extent.batch == 1) return;
  throw Error("--from-host", model.name + " trains on " + std::to_string(model.extent.batch) +
                                 " rows at once; a window is one row",
              "leave it out");
}

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = fault == std::errc() && end == text.data() + text.size();
    const bool octal = text.size() > 1 && text[0] == '0';
    if (whole && !octal && value >= low && value <= high) return "";
    return in_quotes(text) + " is not a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  };
  return CLI::Validator(check, "");
}

CLI::Validator file_name() {
  const auto check = [](const std::string& text) -> std::string {
    return text.empty() ? "a file's name is needed, and this one is empty" : "";
  };
  return CLI::Validator(check, "");
}

CLI::Validator real_number(double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    const std::optional<double> value = finite_number(text);
    if (value && *value >= low && *value <= high) return "";
    std::ostringstream range;
    range << low << " to " << high;
    return in_quotes(text) + " is not a number from " + range.str();
  };
  return CLI::Validator(check, "");
}

std::optional<double> finite_number(const std::string& text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(x)) return std::nullopt;
  return x;
}

std::string digest_text(std::uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016" PRIx64, digest);
  return text;
}

void print_json(const Json& object) { std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n"; }

}  // namespace thimble
