#include "tools/tokenizer/byte_alphabet.hpp"

#include <array>

namespace thimble {

namespace {

bool stands_for_itself(int byte) { return (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad); }

constexpr int kCodePoints = 256 + 68;

struct Alphabet {
  std::array<std::string, 256> symbols;
  std::array<int, kCodePoints> bytes;

  Alphabet() {
    bytes.fill(-1);
    int next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const int point = stands_for_itself(byte) ? byte : next++;
      bytes[std::size_t(point)] = byte;
      std::string& s = symbols[std::size_t(byte)];
      if (point < 0x80) {
        s = {char(point)};
      } else {
        s = {char(0xc0 | point >> 6), char(0x80 | (point & 0x3f))};
      }
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet a;
  return a;
}

}  // namespace

const std::string& symbol_of_byte(unsigned char byte) { return alphabet().symbols[byte]; }

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += symbol_of_byte(static_cast<unsigned char>(c));
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    int point = lead;
    if (lead >= 0x80) {
      const bool pair = lead >= 0xc2 && lead < 0xe0 && i + 1 < text.size() && (text[i + 1] & 0xc0) == 0x80;
      if (!pair) return std::nullopt;
      point = (lead & 0x1f) << 6 | (text[++i] & 0x3f);
    }
    if (point >= kCodePoints || alphabet().bytes[std::size_t(point)] < 0) return std::nullopt;
    bytes += char(alphabet().bytes[std::size_t(point)]);
  }
  return bytes;
}

}  // namespace thimble
