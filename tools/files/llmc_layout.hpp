// Where the parameters stand in llm.c's model file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/llmc.hpp"

namespace thimble::detail {

inline constexpr std::int32_t kLlmcMagic = 20240326;
inline constexpr std::int32_t kLlmcVersionF32 = 3;
inline constexpr std::int32_t kLlmcVersionBF16 = 5;
inline constexpr std::size_t kLlmcHeaderBytes = 256 * sizeof(std::int32_t);

/// A size of a tensor, in terms of the configuration.
enum class LlmcSize : std::uint8_t { kNone, kPaddedVocabulary, kContext, kWidth, kThreeWidths, kFourWidths };

/// One kind of parameter. A layered one stands once for every layer, without its "h.N.".
struct LlmcKind {
  std::string_view name;
  bool layered;
  LlmcSize rows;
  LlmcSize columns;  // kNone: a vector
  bool transposed;   // stored [out, in]
};

/// All kinds in the order of the file.
std::span<const LlmcKind> llmc_kinds();

/// "h.3.ln_1.weight".
std::string llmc_name(const LlmcKind& kind, std::uint32_t layer);

/// Shape as it stands in the file.
std::vector<std::uint64_t> llmc_stored_shape(const LlmcKind& kind, const LlmcConfig& config);

/// Shape as it is outside: without padding rows, matrices [in, out].
std::vector<std::uint64_t> llmc_shape(const LlmcKind& kind, const LlmcConfig& config);

/// Why no model has these sizes, or an empty string.
std::string llmc_problem(const LlmcConfig& config);

/// Transposes a row-major matrix of elements of 2 or 4 bytes. `out` holds rows times columns elements.
void transpose(std::span<const std::byte> in, std::size_t rows, std::size_t columns,
               std::size_t element_bytes, std::span<std::byte> out);

}  // namespace thimble::detail
