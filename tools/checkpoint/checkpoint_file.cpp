#include "tools/checkpoint/checkpoint_file.hpp"

#include "core/checkpoint/reader.hpp"
#include "models/gpt_message.hpp"
#include "tools/checkpoint/fault_error.hpp"
#include "tools/checkpoint/session_checkpoint.hpp"
#include "tools/model/gpt_config.hpp"

namespace thimble {

namespace {

std::string role_text(TensorRole role) {
  switch (role) {
    case thimble_checkpoint_Role_ROLE_FIRST_MOMENT: return "first_moment of ";
    case thimble_checkpoint_Role_ROLE_SECOND_MOMENT: return "second_moment of ";
    case thimble_checkpoint_Role_ROLE_GRADIENT: return "gradient of ";
    default: return "";
  }
}

}  // namespace

struct CheckpointFile::Contents : CheckpointHandler {
  explicit Contents(std::span<const std::byte> all) : bytes(all) {}

  Fault header(const CheckpointHeader& h) override {
    head = h;
    return {};
  }
  Fault metadata(std::string_view key, const ByteRange& value) override {
    const auto text = bytes.subspan(value.offset, value.size);
    notes[std::string(key)].assign(reinterpret_cast<const char*>(text.data()), text.size());
    return {};
  }
  Fault tensor(const TensorEntry& e, const ByteRange& data, std::byte*&) override {
    StoredTensor t;
    t.name = role_text(e.role) + std::string(e.name);
    t.type = e.type == thimble_checkpoint_NumberType_NUMBER_TYPE_F64 ? StoredType::kF64 : StoredType::kF32;
    t.shape.assign(e.sizes, e.sizes + e.rank);
    t.bytes = bytes.subspan(data.offset, data.size);
    (e.role == thimble_checkpoint_Role_ROLE_WEIGHT ? weights : others).push_back(std::move(t));
    return {};
  }
  Fault commit(const CheckpointCommit& c) override {
    digest = c.weights_digest;
    return {};
  }

  std::span<const std::byte> bytes;
  CheckpointHeader head = {};
  std::map<std::string, std::string> notes;
  std::vector<StoredTensor> weights, others;
  std::uint64_t digest = 0;
};

CheckpointFile::CheckpointFile(const std::filesystem::path& path) : TensorFile(path, "thimble") {
  MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  Contents contents(bytes);
  if (const Fault f = read_checkpoint(source_of(bytes), contents)) throw_fault(f, path.string());
  header_ = contents.head;
  weights_digest_ = contents.digest;
  other_tensors_ = std::move(contents.others);
  contents.notes["model"] = header_.model;
  contents.notes["step"] = std::to_string(header_.progress.step);
  if (header_.has_gpt) {
    if (const auto config = gpt_config_of(header_.gpt)) contents.notes["config"] = gpt_config_json(*config);
  }
  set_metadata(std::move(contents.notes));
  for (StoredTensor& t : contents.weights) {
    const std::string name = t.name;
    if (!add(std::move(t))) throw Error(path.string(), "has the weight " + in_quotes(name) + " twice");
  }
  keep(std::move(file));
}

CheckpointHeader checked_header(std::span<const std::byte> bytes, const std::string& where) {
  struct Head : CheckpointHandler {
    Fault header(const CheckpointHeader& h) override {
      found = h;
      return {};
    }
    CheckpointHeader found = {};
  } head;
  if (const Fault f = read_checkpoint(source_of(bytes), head)) throw_fault(f, where);
  return head.found;
}

bool CheckpointFile::recognises(std::span<const std::byte> first) {
  // A length of one or two bytes, then the tag of Record.header, its length, and the tag of format_version.
  for (std::size_t prefix = 1; prefix <= 2; ++prefix) {
    for (std::size_t length = 1; length <= 2; ++length) {
      const std::size_t at = prefix + 1 + length;
      if (first.size() <= at) continue;
      if (first[prefix] == std::byte{0x0A} && first[at] == std::byte{0x08}) return true;
    }
  }
  return false;
}

}  // namespace thimble
