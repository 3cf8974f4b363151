#include "tools/files/npy_header.hpp"

#include <limits>
#include <optional>
#include <string_view>

#include "tools/files/error.hpp"
#include "tools/files/little_endian.hpp"

namespace thimble::detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxDimensions = 32;  // NumPy's own limit until version 2

/// Reads the dictionary. Python would take more spellings; writers of .npy use this one.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader read() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      read_field(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (position_ + 1 != text_.size() || text_[position_] != '\n') {
      fail("the dictionary is not followed by spaces and one line end");
    }
    if (!has_type_ || !has_order_ || !has_shape_) fail("descr, fortran_order or shape is missing");
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(where_, "bad .npy header: " + problem);
  }

  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }

  bool accept(char wanted) {
    skip_spaces();
    if (position_ == text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) {
      fail(std::string("no '") + wanted + "' at " + in_quotes(text_.substr(position_)));
    }
  }

  std::string_view quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail("a text without its closing quote");
    const std::string_view inside = text_.substr(position_, end - position_);
    position_ = end + 1;
    return inside;
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  void once(bool& seen, std::string_view key) {
    if (seen) fail(in_quotes(key) + " stands twice");
    seen = true;
  }

  void read_field(std::string_view key) {
    if (key == "descr") {
      once(has_type_, key);
      read_type();
    } else if (key == "fortran_order") {
      once(has_order_, key);
      if (accept_word("True")) {
        throw Error(where_, "is stored in Fortran order", "save numpy.ascontiguousarray(x) instead");
      }
      if (!accept_word("False")) fail("fortran_order is neither True nor False");
    } else if (key == "shape") {
      once(has_shape_, key);
      read_shape();
    } else {
      fail("the unknown key " + in_quotes(key));
    }
  }

  void read_type() {
    const std::string_view name = quoted();
    if (name == "<f2") {
      header_.type = StoredType::kF16;
    } else if (name == "<f4") {
      header_.type = StoredType::kF32;
    } else if (name == "<f8") {
      header_.type = StoredType::kF64;
    } else {
      throw Error(where_, "has the type " + in_quotes(name) + "; '<f2', '<f4' and '<f8' are read",
                  "save x.astype('<f4') instead");
    }
  }

  void read_shape() {
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("no ',' between the sizes of the shape");
      if (header_.shape.size() == kMaxDimensions) fail("more than 32 dimensions");
      header_.shape.push_back(number());
      comma = accept(',');
    }
    if (header_.shape.size() == 1 && !comma) fail("the shape is a number, not a tuple");
  }

  std::uint64_t number() {
    skip_spaces();
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    const std::size_t begin = position_;
    std::uint64_t value = 0;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
      const auto digit = static_cast<std::uint64_t>(text_[position_++] - '0');
      if (value > (kMax - digit) / 10) fail("a size that does not fit 63 bits");
      value = 10 * value + digit;
    }
    if (position_ == begin) fail("no size at " + in_quotes(text_.substr(position_)));
    return value;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t position_ = 0;
  NpyHeader header_;
  bool has_type_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  if (reader.take_text(kMagic.size(), "the .npy magic") != kMagic) {
    throw Error(where, "does not begin with \\x93NUMPY; this is not an .npy array");
  }
  const auto major = reader.take<std::uint8_t>("the .npy version");
  const auto minor = reader.take<std::uint8_t>("the .npy version");
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(where, "is .npy version " + std::to_string(major) + "." + std::to_string(minor) +
                           "; 1.0, 2.0 and 3.0 are read");
  }
  const std::uint32_t length = major == 1 ? reader.take<std::uint16_t>("the .npy header length")
                                          : reader.take<std::uint32_t>("the .npy header length");
  NpyHeader header = DictionaryReader(reader.take_text(length, "the .npy header"), where).read();
  header.data_begin = reader.position();
  return header;
}

std::string npy_header_text(StoredType type, std::span<const std::uint64_t> shape) {
  std::string sizes;
  for (const std::uint64_t size : shape) sizes += std::to_string(size) + ", ";
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  if (shape.size() == 1) sizes.resize(sizes.size() - 1);
  std::string dictionary = std::string("{'descr': '") + (type == StoredType::kF32 ? "<f4" : "<f8") +
                           "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  const std::size_t fixed = kMagic.size() + 2 + sizeof(std::uint16_t);
  const std::size_t total = (fixed + dictionary.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dictionary.resize(total - fixed - 1, ' ');
  dictionary += '\n';
  std::string text(kMagic);
  text += {'\1', '\0'};
  put_little(text, static_cast<std::uint16_t>(dictionary.size()));
  return text + dictionary;
}

}  // namespace thimble::detail
