#include "tools/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include "tools/files/error.hpp"

namespace thimble {
namespace detail {

std::string json_reason(std::string_view message) {
  const std::size_t bracket = message.find("] ");
  if (message.starts_with("[json.exception.") && bracket != std::string_view::npos) {
    message.remove_prefix(bracket + 2);
  }
  return std::string(message);
}

void refuse_zero_byte(std::string_view text, const std::string& where) {
  const std::size_t zero = text.find('\0');
  if (zero != text.npos) throw Error(where, "bad JSON: a zero byte at " + std::to_string(zero));
}

}  // namespace detail

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  constexpr int kMaxDepth = 64;  // what we parse is three deep; dumping and comparing a value recurse
  const auto shallow = [&where](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kMaxDepth) throw Error(where, "JSON nested deeper than " + std::to_string(kMaxDepth));
    return true;
  };
  detail::refuse_zero_byte(text, where);
  try {
    return nlohmann::json::parse(text, shallow);
  } catch (const nlohmann::json::exception& error) {
    throw Error(where, "bad JSON: " + detail::json_reason(error.what()));
  }
}

}  // namespace thimble
