#include "tools/files/llmc_layout.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace thimble::detail {
namespace {

constexpr LlmcKind kKinds[] = {
    {"wte.weight", false, LlmcSize::kPaddedVocabulary, LlmcSize::kWidth, false},
    {"wpe.weight", false, LlmcSize::kContext, LlmcSize::kWidth, false},
    {"ln_1.weight", true, LlmcSize::kWidth, LlmcSize::kNone, false},
    {"ln_1.bias", true, LlmcSize::kWidth, LlmcSize::kNone, false},
    {"attn.c_attn.weight", true, LlmcSize::kThreeWidths, LlmcSize::kWidth, true},
    {"attn.c_attn.bias", true, LlmcSize::kThreeWidths, LlmcSize::kNone, false},
    {"attn.c_proj.weight", true, LlmcSize::kWidth, LlmcSize::kWidth, true},
    {"attn.c_proj.bias", true, LlmcSize::kWidth, LlmcSize::kNone, false},
    {"ln_2.weight", true, LlmcSize::kWidth, LlmcSize::kNone, false},
    {"ln_2.bias", true, LlmcSize::kWidth, LlmcSize::kNone, false},
    {"mlp.c_fc.weight", true, LlmcSize::kFourWidths, LlmcSize::kWidth, true},
    {"mlp.c_fc.bias", true, LlmcSize::kFourWidths, LlmcSize::kNone, false},
    {"mlp.c_proj.weight", true, LlmcSize::kWidth, LlmcSize::kFourWidths, true},
    {"mlp.c_proj.bias", true, LlmcSize::kWidth, LlmcSize::kNone, false},
    {"ln_f.weight", false, LlmcSize::kWidth, LlmcSize::kNone, false},
    {"ln_f.bias", false, LlmcSize::kWidth, LlmcSize::kNone, false},
};

std::uint64_t value_of(LlmcSize size, const LlmcConfig& config) {
  switch (size) {
    case LlmcSize::kPaddedVocabulary:
      return config.padded_vocabulary;
    case LlmcSize::kContext:
      return config.context;
    case LlmcSize::kWidth:
      return config.width;
    case LlmcSize::kThreeWidths:
      return std::uint64_t{3} * config.width;
    case LlmcSize::kFourWidths:
      return std::uint64_t{4} * config.width;
    case LlmcSize::kNone:
      break;
  }
  return 1;
}

/// Blocks of 16 x 16: both sides stay in the cache, and a line of 64 bytes is used whole.
template <class Element>
void transpose_elements(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) {
  constexpr std::size_t kBlock = 16;
  for (std::size_t i = 0; i < rows; i += kBlock) {
    for (std::size_t j = 0; j < columns; j += kBlock) {
      for (std::size_t c = j; c < std::min(j + kBlock, columns); ++c) {
        for (std::size_t r = i; r < std::min(i + kBlock, rows); ++r) {
          std::memcpy(out + (c * rows + r) * sizeof(Element), in + (r * columns + c) * sizeof(Element),
                      sizeof(Element));
        }
      }
    }
  }
}

}  // namespace

std::span<const LlmcKind> llmc_kinds() {
  return kKinds;
}

std::string llmc_name(const LlmcKind& kind, std::uint32_t layer) {
  return (kind.layered ? "h." + std::to_string(layer) + "." : std::string()) + std::string(kind.name);
}

std::vector<std::uint64_t> llmc_stored_shape(const LlmcKind& kind, const LlmcConfig& config) {
  if (kind.columns == LlmcSize::kNone) return {value_of(kind.rows, config)};
  return {value_of(kind.rows, config), value_of(kind.columns, config)};
}

std::vector<std::uint64_t> llmc_shape(const LlmcKind& kind, const LlmcConfig& config) {
  std::vector<std::uint64_t> shape = llmc_stored_shape(kind, config);
  if (kind.rows == LlmcSize::kPaddedVocabulary) shape[0] = config.vocabulary;
  if (kind.transposed) std::swap(shape[0], shape[1]);
  return shape;
}

std::string llmc_problem(const LlmcConfig& config) {
  constexpr std::uint32_t kMax = 0x7fffffff;  // int32 in the file
  const std::uint32_t sizes[] = {config.context, config.vocabulary, config.layers, config.heads,
                                 config.width};
  for (const std::uint32_t size : sizes) {
    if (size == 0 || size > kMax) return "a size is zero, negative or too large: " + std::to_string(size);
  }
  if (config.width % config.heads != 0) {
    return std::to_string(config.heads) + " heads do not divide the width " + std::to_string(config.width);
  }
  if (config.padded_vocabulary < config.vocabulary || config.padded_vocabulary > kMax) {
    return "the padded vocabulary " + std::to_string(config.padded_vocabulary) +
           " does not hold the vocabulary " + std::to_string(config.vocabulary);
  }
  return {};
}

void transpose(std::span<const std::byte> in, std::size_t rows, std::size_t columns,
               std::size_t element_bytes, std::span<std::byte> out) {
  if (element_bytes == sizeof(std::uint16_t)) {
    transpose_elements<std::uint16_t>(in.data(), rows, columns, out.data());
  } else {
    transpose_elements<std::uint32_t>(in.data(), rows, columns, out.data());
  }
}

}  // namespace thimble::detail
