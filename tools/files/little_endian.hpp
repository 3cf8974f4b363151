// Little-endian fields, read with bounds and written one after another.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "tools/files/error.hpp"

namespace thimble::detail {

static_assert(std::endian::native == std::endian::little, "fields are copied as they lie in memory");

/// Takes fields off the front of bytes from outside. What is not there is an `Error` at `where`, which the
/// reader does not own.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  /// The next `Value`, a number. `what` names it in the message.
  template <class Value>
  Value take(std::string_view what) {
    static_assert(std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>);
    Value value;
    std::memcpy(&value, take_bytes(sizeof(Value), what).data(), sizeof(Value));
    return value;
  }

  std::span<const std::byte> take_bytes(std::uint64_t count, std::string_view what) {
    if (count > left()) {
      throw Error(where_, "ends inside " + std::string(what) + ": at byte " + std::to_string(position_) +
                              " " + std::to_string(count) + " bytes are needed, but only " +
                              std::to_string(left()) + " follow");
    }
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  std::string_view take_text(std::uint64_t count, std::string_view what) {
    const auto taken = take_bytes(count, what);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  const std::string& where() const { return where_; }

 private:
  std::span<const std::byte> bytes_;
  const std::string& where_;
  std::size_t position_ = 0;
};

/// Appends the bytes of a number to `out`.
template <class Value>
void put_little(std::string& out, Value value) {
  static_assert(std::is_arithmetic_v<Value>);
  char bytes[sizeof(Value)];
  std::memcpy(bytes, &value, sizeof(Value));
  out.append(bytes, sizeof(Value));
}

}  // namespace thimble::detail
