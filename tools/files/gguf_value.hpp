// Metadata values of GGUF files. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace thimble {

/// A value of one of the format's types, or an array of one of them. Arrays of arrays are not supported.
using GgufValue =
    std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, float,
                 bool, std::string, std::uint64_t, std::int64_t, double, std::vector<std::uint8_t>,
                 std::vector<std::int8_t>, std::vector<std::uint16_t>, std::vector<std::int16_t>,
                 std::vector<std::uint32_t>, std::vector<std::int32_t>, std::vector<float>, std::vector<bool>,
                 std::vector<std::string>, std::vector<std::uint64_t>, std::vector<std::int64_t>,
                 std::vector<double>>;

namespace detail {

inline constexpr char kGgufMagic[] = "GGUF";
inline constexpr std::uint32_t kGgufVersion = 3;
inline constexpr std::uint32_t kGgufAlignment = 32;  // unless general.alignment says otherwise
inline constexpr char kGgufAlignmentKey[] = "general.alignment";
inline constexpr std::uint32_t kGgufArray = 9;
inline constexpr std::uint64_t kGgufMaxKeyBytes = 65535;
inline constexpr std::uint32_t kGgufMaxDimensions = 4;

/// The number that stands for a metadata type in the file.
template <class Value>
inline constexpr std::uint32_t kGgufTypeOf = ~0U;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::uint8_t> = 0;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::int8_t> = 1;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::uint16_t> = 2;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::int16_t> = 3;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::uint32_t> = 4;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::int32_t> = 5;
template <>
inline constexpr std::uint32_t kGgufTypeOf<float> = 6;
template <>
inline constexpr std::uint32_t kGgufTypeOf<bool> = 7;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::string> = 8;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::uint64_t> = 10;
template <>
inline constexpr std::uint32_t kGgufTypeOf<std::int64_t> = 11;
template <>
inline constexpr std::uint32_t kGgufTypeOf<double> = 12;

/// `size` up to the next multiple of `alignment`, a power of two. The sum must fit 64 bits.
constexpr std::uint64_t round_up(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}

}  // namespace detail
}  // namespace thimble
