#pragma once
/// Which instruction sets this processor can run.

#include <optional>
#include <string_view>

namespace thimble {

/// The kernel sets that a host program carries, best first.
enum class Isa { avx512, avx2, plain };
inline constexpr int kIsaCount = 3;

std::string_view text_of(Isa isa);

/// "avx512", "avx2" or "plain"; nothing for another word.
std::optional<Isa> isa_from(std::string_view text);

/// Can this processor (and operating system) run that kernel set?
bool can_run(Isa isa);

/// The best that can run here.
Isa best_isa();

}  // namespace thimble
