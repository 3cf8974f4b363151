#pragma once
/// GPT-2's way of writing bytes as visible characters: the printable bytes of Latin-1 stand for themselves, the other
/// 68 (controls, space, 0x7f to 0xa0, the soft hyphen) for the code points from 256 on, in order. A space is written
/// U+0120.

#include <optional>
#include <string>
#include <string_view>

namespace thimble {

/// The character of a byte, in UTF-8.
const std::string& symbol_of_byte(unsigned char byte);

/// Bytes written in the alphabet.
std::string to_byte_alphabet(std::string_view bytes);

/// The bytes that `text` stands for; nothing where one of its characters is not in the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace thimble
