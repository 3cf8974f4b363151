#include "ports/host/cpu.hpp"

namespace thimble {

std::string_view text_of(Isa isa) {
  switch (isa) {
    case Isa::avx512: return "avx512";
    case Isa::avx2: return "avx2";
    case Isa::plain: return "plain";
  }
  return "unknown";
}

std::optional<Isa> isa_from(std::string_view text) {
  for (Isa i : {Isa::avx512, Isa::avx2, Isa::plain}) {
    if (text_of(i) == text) return i;
  }
  return std::nullopt;
}

bool can_run(Isa isa) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == Isa::avx2) return avx2;
  if (isa == Isa::avx512) {
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
  }
#endif
  return isa == Isa::plain;
}

Isa best_isa() {
  for (Isa i : {Isa::avx512, Isa::avx2}) {
    if (can_run(i)) return i;
  }
  return Isa::plain;
}

}  // namespace thimble
