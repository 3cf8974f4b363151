#include "tools/exchange/write_checkpoint.hpp"

#include "core/checkpoint/training.hpp"
#include "models/gpt_message.hpp"
#include "tools/checkpoint/checkpoint_sink.hpp"
#include "tools/files/error.hpp"
#include "tools/files/safetensors_writer.hpp"
#include "tools/model/gpt_config.hpp"

namespace thimble {

namespace {

TensorEntry entry_of(const TensorFile& file, const StoredTensor& t) {
  const std::string where = file.path().string() + ", tensor " + in_quotes(t.name);
  if (t.type != file.tensors()[0].type || (t.type != StoredType::kF32 && t.type != StoredType::kF64)) {
    throw Error(where, "is " + std::string(stored_type_name(t.type)) + "; a checkpoint holds F32 or F64, all alike",
                "thimble import converts");
  }
  if (t.name.size() > std::size_t(Name::kCapacity) || t.shape.size() > 2) {
    throw Error(where, "a checkpoint has names of at most 31 bytes and shapes of at most two sizes");
  }
  TensorEntry e{t.name, thimble_checkpoint_Role_ROLE_WEIGHT,
                t.type == StoredType::kF64 ? kNumberTypeOf<double> : kNumberTypeOf<float>,
                std::uint8_t(t.shape.size()), {}};
  for (std::size_t k = 0; k < t.shape.size(); ++k) e.sizes[k] = std::uint32_t(t.shape[k]);
  return e;
}

std::string entry_or(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto at = metadata.find(key);
  return at == metadata.end() ? "" : at->second;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const TensorFile& source) {
  const std::string model = entry_or(source.metadata(), "model");
  if (model.empty() || model.size() > std::size_t(Name::kCapacity)) {
    throw Error(source.path().string(), "does not say which model it is of", "use thimble import FILE --model MODEL OUT");
  }
  if (source.tensors().empty()) throw Error(source.path().string(), "holds no tensor");
  TrainingState state;
  state.model = Name(model.c_str());
  if (const auto config = gpt_config_from(source.metadata(), source.path().string())) {
    state.has_gpt = true;
    state.gpt = gpt_message(*config);
  }
  CheckpointHeader header = header_of(state);
  const int count = int(source.tensors().size());
  const auto entry = [&](int i) { return entry_of(source, source.tensors()[std::size_t(i)]); };
  header.number_type = entry(0).type;
  header.tensor_count = std::uint32_t(count);
  header.tensor_table_hash = tensor_table_hash(entry, count);

  CheckpointSink sink(path);
  CheckpointWriter writer(sink.bytes());
  sink.require(writer.header(header));
  const std::string tokenizer = entry_or(source.metadata(), "tokenizer");
  if (!tokenizer.empty()) sink.require(writer.metadata("tokenizer", tokenizer));
  for (int i = 0; i < count; ++i) {
    sink.require(writer.tensor(entry(i), source.tensors()[std::size_t(i)].bytes.data()));
  }
  sink.require(writer.commit());
  sink.commit();
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& source) {
  SafetensorsWriter writer(path);
  for (const auto& [key, value] : source.metadata()) writer.set_metadata(key, value);
  writer.set_metadata("format", "pt");
  for (const StoredTensor& t : source.tensors()) writer.declare(t.name, t.type, t.shape);
  for (const StoredTensor& t : source.tensors()) writer.append(t);
  writer.commit();
}

}  // namespace thimble
