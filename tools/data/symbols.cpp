#include "tools/data/symbols.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"
#include "tools/files/json_text.hpp"

namespace thimble {
namespace {

std::string byte_text(unsigned char byte) {
  const char c = static_cast<char>(byte);
  return in_quotes({&c, 1});
}

std::vector<unsigned char> present_bytes(const ByteCounts& counts) {
  std::vector<unsigned char> bytes;
  for (std::size_t byte = 0; byte < counts.size(); ++byte) {
    if (counts[byte] > 0) bytes.push_back(static_cast<unsigned char>(byte));
  }
  return bytes;
}

/// "'~' x 1, 'Q' x 3, ...": rarest first, since those are the ones to remove.
std::string counted_list(std::vector<unsigned char> bytes, const ByteCounts& counts) {
  std::stable_sort(bytes.begin(), bytes.end(),
                   [&](unsigned char a, unsigned char b) { return counts[a] < counts[b]; });
  std::string list;
  for (const unsigned char byte : bytes) {
    if (!list.empty()) list += ", ";
    list += byte_text(byte) + " x " + std::to_string(counts[byte]);
  }
  return list;
}

}  // namespace

void count_bytes(std::string_view text, ByteCounts& counts) {
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
}

Symbols::Symbols(std::vector<unsigned char> bytes, Framing framing)
    : bytes_(std::move(bytes)), framing_(framing) {
  ids_.fill(-1);
  for (std::size_t id = 0; id < bytes_.size(); ++id) ids_[bytes_[id]] = static_cast<std::int32_t>(id);
}

Symbols::Symbols(const ByteCounts& counts, Framing framing, std::size_t vocabulary, const std::string& where)
    : Symbols(present_bytes(counts), framing) {
  if (bytes_.empty()) throw Error(where, "has no symbols");
  if (id_count() <= vocabulary) return;
  const std::string bos_text = framing == Framing::kBos ? " and BOS" : "";
  throw Error(where,
              "has " + std::to_string(bytes_.size()) + " distinct bytes" + bos_text +
                  ", but the model's vocabulary holds " + std::to_string(vocabulary) +
                  " ids; rarest first: " + counted_list(bytes_, counts),
              "choose a model with a larger vocabulary, or remove the " +
                  std::to_string(id_count() - vocabulary) + " rarest from the text");
}

Symbols Symbols::of_text(std::string_view text, std::size_t vocabulary, const std::string& where) {
  ByteCounts counts{};
  count_bytes(text, counts);
  return Symbols(counts, Framing::kNone, vocabulary, where);
}

std::optional<std::int32_t> Symbols::bos() const {
  if (framing_ == Framing::kNone) return std::nullopt;
  return static_cast<std::int32_t>(bytes_.size());
}

std::vector<std::int32_t> Symbols::encode(std::string_view text, const std::string& where) const {
  std::vector<std::int32_t> ids;
  ids.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (ids_[byte] < 0) {
      const std::string known(bytes_.begin(), bytes_.end());
      throw Error(where,
                  "byte " + byte_text(byte) + " at position " + std::to_string(i) +
                      " is not one of the model's symbols",
                  "they are " + in_quotes(known));
    }
    ids.push_back(ids_[byte]);
  }
  return ids;
}

std::string Symbols::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const std::int32_t id : ids) {
    if (id >= 0 && static_cast<std::size_t>(id) < bytes_.size()) {
      text += static_cast<char>(bytes_[static_cast<std::size_t>(id)]);
    } else if (bos() == id) {
      text += '\n';
    } else {
      throw Error("token ids",
                  "id " + std::to_string(id) + " is none of the " + std::to_string(id_count()) + " symbols");
    }
  }
  return text;
}

std::string Symbols::to_json() const {
  nlohmann::ordered_json json;
  json["type"] = "bytes";
  json["bytes"] = bytes_;
  if (framing_ == Framing::kBos) json["bos"] = *bos();
  return json.dump();
}

Symbols Symbols::from_json(std::string_view text, const std::string& where) {
  const nlohmann::json json = parse_json(text, where);
  if (!json.is_object() || json.value("type", nlohmann::json()) != "bytes") {
    throw Error(where, "the tokenizer is not of the type \"bytes\"");
  }
  const nlohmann::json list = json.value("bytes", nlohmann::json());
  std::vector<unsigned char> bytes;
  if (list.is_array()) {
    for (const nlohmann::json& item : list) {
      const bool is_byte = item.is_number_unsigned() && item.get<std::uint64_t>() < 256;
      if (!is_byte || (!bytes.empty() && item.get<std::uint64_t>() <= bytes.back())) {
        throw Error(where, "the tokenizer's \"bytes\" are not ascending numbers from 0 to 255");
      }
      bytes.push_back(item.get<unsigned char>());
    }
  }
  if (bytes.empty()) throw Error(where, "the tokenizer has no list of \"bytes\"");
  Symbols symbols(std::move(bytes), json.contains("bos") ? Framing::kBos : Framing::kNone);
  if (symbols.bos() && json["bos"] != *symbols.bos()) {
    throw Error(where,
                "the tokenizer's \"bos\" is not the id after its bytes, " + std::to_string(*symbols.bos()));
  }
  return symbols;
}

}  // namespace thimble
