#include "tools/tokenizer/bpe_vocabulary.hpp"

#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"
#include "tools/files/json_text.hpp"
#include "tools/files/text_file.hpp"
#include "tools/tokenizer/bpe_builder.hpp"

namespace thimble {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 25;  // GPT-2's files have 1.4 MB
constexpr const char* kType = "gpt2";

const Json* find(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

const Json& require(const Json& object, const char* key, Json::value_t type, const std::string& where) {
  const Json* const value = find(object, key);
  if (!value || value->type() != type) {
    const char* const what = type == Json::value_t::object ? "object" : "list";
    throw Error(where, std::string("has no ") + what + " \"" + key + "\"", "is it a tokenizer of another kind?");
  }
  return *value;
}

Json parse_object(std::string_view text, const std::string& where) {
  Json json = parse_json(text, where);
  if (!json.is_object()) throw Error(where, "is not a JSON object");
  return json;
}

std::string merge_place(std::size_t index) { return "merge " + std::to_string(index); }

/// Merges as "a b" or ["a", "b"].
void add_merges(BpeBuilder& builder, const Json& merges, const std::string& where) {
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const Json& m = merges[i];
    const bool pair = m.is_array() && m.size() == 2 && m[0].is_string() && m[1].is_string();
    if (pair) {
      builder.add_merge(m[0], m[1], merge_place(i));
    } else if (m.is_string()) {
      builder.add_merge_line(m.get_ref<const std::string&>(), merge_place(i));
    } else {
      throw Error(where + ", " + merge_place(i), "is neither a string nor a pair of strings");
    }
  }
}

void refuse(const std::string& where, const char* key, const Json& value) {
  throw Error(where, std::string("\"") + key + "\" is " + in_quotes(value.dump(-1, ' ', true)) +
                         ", which GPT-2's tokenizer does not have", "only byte-level BPE as in GPT-2 is supported");
}

/// Settings that would change the tokens must be absent or at rest (null, false, 0 or "").
void require_at_rest(const Json& object, std::initializer_list<const char*> keys, const std::string& where) {
  for (const char* key : keys) {
    const Json* const v = find(object, key);
    if (v && *v != Json(false) && *v != Json("") && *v != Json(0)) refuse(where, key, *v);
  }
}

void check_pre_tokenizer(const Json& file, const std::string& where) {
  require_at_rest(file, {"normalizer"}, where);
  const Json* const p = find(file, "pre_tokenizer");
  const Json none;
  if (!p || !p->is_object() || p->value("type", none) != "ByteLevel" || p->value("use_regex", Json(true)) != true) {
    refuse(where, "pre_tokenizer", p ? *p : none);
  }
  require_at_rest(*p, {"add_prefix_space"}, where + ", pre_tokenizer");
}

void add_added_tokens(BpeBuilder& builder, const Json& file, const std::string& where) {
  const Json* const added = find(file, "added_tokens");
  if (!added) return;
  if (!added->is_array()) throw Error(where, "\"added_tokens\" is not a list");
  for (const Json& token : *added) {
    const Json* const content = token.is_object() ? find(token, "content") : nullptr;
    if (!content || !content->is_string()) throw Error(where, "an entry of \"added_tokens\" has no text \"content\"");
    const auto& text = content->get_ref<const std::string&>();
    require_at_rest(token, {"single_word", "lstrip", "rstrip"}, where + ", added token " + in_quotes(text));
    builder.add_special(text, token.value("id", Json()));
  }
}

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::string read(const std::filesystem::path& path) {
  return read_file(path, EmptyFile::kRefused, kMaxFileBytes);
}

BpeVocabulary load_pair(const std::filesystem::path& vocab, const std::filesystem::path& merges) {
  return bpe_from_vocab_and_merges(read(vocab), read(merges), vocab.string(), merges.string());
}

}  // namespace

std::vector<std::string> BpeVocabulary::merge_lines() const {
  std::vector<std::string> lines;
  lines.reserve(merges.size());
  for (const BpeMerge& m : merges) lines.push_back(tokens[std::size_t(m.left)] + " " + tokens[std::size_t(m.right)]);
  return lines;
}

BpeVocabulary bpe_from_vocab_and_merges(std::string_view vocab, std::string_view merges, const std::string& vocab_where,
                                        const std::string& merges_where) {
  const Json json = parse_object(without_byte_order_mark(vocab), vocab_where);
  BpeBuilder builder(vocab_where);
  for (const auto& [text, id] : json.items()) builder.add_token(text, id);
  if (builder.has(kEndOfText)) builder.add_special(kEndOfText, json[kEndOfText]);
  builder.close_tokens();

  builder.continue_in(merges_where);
  std::string_view rest = without_byte_order_mark(merges);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool heading = number == 1 && line.starts_with("#version");
    if (!line.empty() && !heading) builder.add_merge_line(line, "line " + std::to_string(number));
  }
  return builder.take();
}

BpeVocabulary bpe_from_tokenizer_json(std::string_view text, const std::string& where) {
  const Json file = parse_object(without_byte_order_mark(text), where);
  const Json& model = require(file, "model", Json::value_t::object, where);
  const std::string place = where + ", model";
  if (model.value("type", Json("BPE")) != "BPE") refuse(place, "type", model["type"]);
  check_pre_tokenizer(file, where);
  require_at_rest(model, {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback",
                          "ignore_merges"}, place);
  BpeBuilder builder(where);
  for (const auto& [token, id] : require(model, "vocab", Json::value_t::object, place).items()) {
    builder.add_token(token, id);
  }
  add_added_tokens(builder, file, where);
  builder.close_tokens();
  add_merges(builder, require(model, "merges", Json::value_t::array, place), where);
  return builder.take();
}

BpeVocabulary bpe_from_json(std::string_view text, const std::string& where) {
  const Json json = parse_object(text, where);
  if (json.value("type", Json()) != kType) throw Error(where, "the tokenizer is not of the type \"gpt2\"");
  BpeBuilder builder(where);
  const Json& tokens = require(json, "tokens", Json::value_t::array, where);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].is_string()) throw Error(where, "token " + std::to_string(id) + " is not a string");
    builder.add_token(tokens[id], std::uint64_t(id));
  }
  for (const auto& [token, id] : require(json, "special", Json::value_t::object, where).items()) {
    builder.add_special(token, id);
  }
  builder.close_tokens();
  add_merges(builder, require(json, "merges", Json::value_t::array, where), where);
  return builder.take();
}

std::string bpe_to_json(const BpeVocabulary& v) {
  nlohmann::ordered_json json;
  json["type"] = kType;
  json["tokens"] = v.tokens;
  json["merges"] = v.merge_lines();
  json["special"] = nlohmann::ordered_json::object();
  for (const auto& [text, id] : v.special) json["special"][text] = id;
  return json.dump();
}

std::optional<BpeVocabulary> bpe_from_metadata(const std::map<std::string, std::string>& metadata,
                                               const std::string& where) {
  const auto at = metadata.find("tokenizer");
  if (at == metadata.end()) return std::nullopt;
  const std::string place = where + ", metadata 'tokenizer'";
  if (parse_object(at->second, place).value("type", Json()) != kType) return std::nullopt;
  return bpe_from_json(at->second, place);
}

std::string vocab_json_of(const BpeVocabulary& v) {
  std::string text = "{";
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    text += (id ? "," : "") + Json(v.tokens[id]).dump() + ":" + std::to_string(id);
  }
  return text + "}";
}

std::string merges_txt_of(const BpeVocabulary& v) {
  std::string text = "#version: 0.2\n";
  for (const std::string& line : v.merge_lines()) text += line + "\n";
  return text;
}

bool has_bpe_files(const std::filesystem::path& folder) {
  return is_file(folder / "tokenizer.json") || (is_file(folder / "vocab.json") && is_file(folder / "merges.txt"));
}

BpeVocabulary load_bpe(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (is_file(path / "tokenizer.json")) return load_bpe(path / "tokenizer.json");
    if (has_bpe_files(path)) return load_pair(path / "vocab.json", path / "merges.txt");
    throw Error(path.string(), "holds neither tokenizer.json nor vocab.json with merges.txt",
                "give the folder of a Hugging Face GPT-2 model, or one of those files");
  }
  if (path.extension() == ".txt") return load_pair(path.parent_path() / "vocab.json", path);
  const std::string text = read(path);
  if (parse_object(without_byte_order_mark(text), path.string()).contains("model")) {
    return bpe_from_tokenizer_json(text, path.string());
  }
  const std::filesystem::path merges = path.parent_path() / "merges.txt";
  return bpe_from_vocab_and_merges(text, read(merges), path.string(), merges.string());
}

}  // namespace thimble
