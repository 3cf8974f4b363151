// message: recompute: no activation has one of the names to keep
#include "core/ops/list.hpp"
#include "models/decoder.hpp"

#ifdef THIMBLE_BAD
constexpr thimble::RecomputeText kKept = "h.*.mid,h.*.act2";
#else
constexpr thimble::RecomputeText kKept = "h.*.mid,h.*.act";
#endif

constexpr auto kSchedule = thimble::schedule_of(thimble::tape_of<thimble::Decoder>, kKept);
static_assert(kSchedule.keep[0]);
