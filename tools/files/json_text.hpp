// JSON from outside, parsed with the file's name in every message.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace thimble {

/// Parses `text`. Throws `Error` at `where` for bad syntax and for nesting deeper than 64.
nlohmann::json parse_json(std::string_view text, const std::string& where);

namespace detail {

/// The sentence of a nlohmann parser message, without its class and number in brackets.
std::string json_reason(std::string_view message);

/// The parser takes a zero byte as the end of its input and would not look at what follows.
void refuse_zero_byte(std::string_view text, const std::string& where);

}  // namespace detail
}  // namespace thimble
