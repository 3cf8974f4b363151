#include "tools/exchange/formats.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "tools/checkpoint/checkpoint_file.hpp"
#include "tools/exchange/gpt2_export.hpp"
#include "tools/exchange/hugging_face.hpp"
#include "tools/exchange/tensor_values.hpp"
#include "tools/exchange/write_checkpoint.hpp"
#include "tools/files/error.hpp"
#include "tools/files/gguf.hpp"
#include "tools/files/npz.hpp"
#include "tools/files/npz_writer.hpp"
#include "tools/files/safetensors.hpp"
#include "tools/files/safetensors_writer.hpp"

namespace thimble {

namespace {

template <class File>
std::unique_ptr<TensorFile> open_as(const std::filesystem::path& path) {
  return std::make_unique<File>(path);
}

/// A header's length of at most 100 MB, then the JSON of the header.
bool is_safetensors(std::span<const std::byte> first) {
  return first.size() > 8 && first[5] == std::byte{0} && first[6] == std::byte{0} && first[7] == std::byte{0} &&
         first[8] == std::byte{'{'};
}

bool begins_with(std::span<const std::byte> first, std::string_view magic) {
  return first.size() >= magic.size() && std::memcmp(first.data(), magic.data(), magic.size()) == 0;
}
bool is_npz(std::span<const std::byte> first) { return begins_with(first, "PK"); }
bool is_gguf(std::span<const std::byte> first) { return begins_with(first, "GGUF"); }
bool is_llmc(std::span<const std::byte> first) {
  constexpr std::int32_t kMagic = 20240326;
  return begins_with(first, {reinterpret_cast<const char*>(&kMagic), sizeof kMagic});
}

void write_npz(const std::filesystem::path& path, const TensorFile& source) {
  NpzWriter writer(path);
  for (const StoredTensor& t : source.tensors()) {
    std::vector<float> converted;
    const StoredTensor values = t.type == StoredType::kF64 ? t : as_f32(source, t, converted);
    writer.append(t.name, values.type, t.shape, values.bytes);
  }
  writer.commit();
}

std::string list_of_formats(bool (*wanted)(const WeightsFormat&), bool endings) {
  std::string text;
  for (const WeightsFormat& f : weights_formats()) {
    if (!wanted(f) || (endings && f.ending.empty())) continue;
    text += (text.empty() ? "" : ", ") + (endings ? f.ending : f.name);
  }
  return text;
}

bool is_read(const WeightsFormat& f) { return f.open != nullptr; }
bool is_written(const WeightsFormat& f) { return f.write != nullptr; }

}  // namespace

const std::vector<WeightsFormat>& weights_formats() {
  static const std::vector<WeightsFormat> formats = {
      {"safetensors", ".safetensors", "Hugging Face's file of tensors", is_safetensors, open_as<SafetensorsFile>,
       write_safetensors},
      {"thimble", ".thimble", "a checkpoint (core/checkpoint/checkpoint.proto)", CheckpointFile::recognises,
       open_as<CheckpointFile>, write_checkpoint},
      {"npz", ".npz", "NumPy's archive", is_npz, open_as<NpzFile>, write_npz},
      {"gguf", ".gguf", "llama.cpp's file, for a GPT-2 with tanh GELU", is_gguf, open_as<GgufFile>, write_gguf},
      {"llmc", ".bin", "llm.c's model file, for a GPT-2 with tanh GELU", is_llmc, open_llmc, write_llmc_file},
      {"hf", "", "a folder for Hugging Face's GPT2LMHeadModel", nullptr, nullptr, write_hugging_face_folder},
  };
  return formats;
}

const WeightsFormat* recognised_format(const std::filesystem::path& path) {
  std::array<char, 64> first = {};
  std::ifstream in(path, std::ios::binary);
  if (in) in.read(first.data(), std::streamsize(first.size()));
  const auto bytes = std::as_bytes(std::span(first.data(), std::size_t(in ? first.size() : in.gcount())));
  for (const WeightsFormat& f : weights_formats()) {
    if (f.recognises != nullptr && f.recognises(bytes)) return &f;
  }
  return nullptr;
}

std::unique_ptr<TensorFile> open_weights(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return std::make_unique<HuggingFaceFolder>(path);
  if (const WeightsFormat* const f = recognised_format(path)) return f->open(path);
  // The ending tells what the file was meant to be, and its reader what is wrong with it.
  for (const WeightsFormat& f : weights_formats()) {
    if (f.open != nullptr && path.extension() == f.ending) return f.open(path);
  }
  if (!std::filesystem::exists(path)) throw Error(path.string(), "does not exist");
  throw Error(path.string(), "is no weights file that thimble knows", "it reads " + list_of_formats(is_read, false));
}

const WeightsFormat& format_named(const std::string& name) {
  for (const WeightsFormat& f : weights_formats()) {
    if (f.name == name && is_written(f)) return f;
  }
  throw Error("--to", in_quotes(name) + " is not a format", "choose from " + list_of_formats(is_written, false));
}

const WeightsFormat& format_of(const std::filesystem::path& path) {
  for (const WeightsFormat& f : weights_formats()) {
    if (!f.ending.empty() && f.ending == path.extension() && is_written(f)) return f;
  }
  throw Error(path.string(), "its ending " + in_quotes(path.extension().string()) + " is not that of a weights format",
              "choose from " + list_of_formats(is_written, true));
}

}  // namespace thimble
