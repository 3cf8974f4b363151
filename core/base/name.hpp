#pragma once
/// A short name in fixed storage, made at compile time.

#include <cstdint>
#include <string_view>

namespace thimble {

/// At most 31 characters; a longer one does not compile.
struct Name {
  static constexpr int kCapacity = 31;
  char text[kCapacity + 1] = {};
  std::uint8_t length = 0;
  std::uint32_t hash = 2166136261u;  ///< FNV-1a of the characters

  constexpr Name() = default;
  constexpr Name(const char* s) {
    for (int i = 0; s[i] != 0; ++i) push(s[i]);
  }
  /// prefix + number + rest: {"h.", 3, ".ln_1"} is h.3.ln_1.
  constexpr Name(const char* prefix, int number, const char* rest) : Name(prefix) {
    char digits[12] = {};
    int n = 0;
    do digits[n++] = char('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0) push(digits[--n]);
    for (int i = 0; rest[i] != 0; ++i) push(rest[i]);
  }

  constexpr Name operator+(const char* suffix) const {
    Name r = *this;
    for (int i = 0; suffix[i] != 0; ++i) r.push(suffix[i]);
    return r;
  }

  constexpr std::string_view view() const { return {text, std::size_t(length)}; }
  constexpr int size() const { return length; }
  constexpr bool operator==(const Name& o) const { return hash == o.hash && view() == o.view(); }

 private:
  constexpr void push(char c) {
    text[length++] = c;  // a constant expression stops here when the name is too long
    hash = (hash ^ std::uint8_t(c)) * 16777619u;
  }
};

}  // namespace thimble
