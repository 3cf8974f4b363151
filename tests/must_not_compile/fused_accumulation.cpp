// message: gradients that are used up within the backward pass do not add up over micro-batches
#include "core/train/trainer.hpp"
#include "models/decoder.hpp"

using Kernels = thimble::Simd<float, thimble::Plain<thimble::Profile::fused>>;
#ifdef THIMBLE_BAD
constexpr bool kFuse = true;
#else
constexpr bool kFuse = false;
#endif

using Trainer = thimble::Trainer<thimble::Decoder, Kernels, {.extent = {1, 9}, .fuse_update = kFuse}>;

thimble::Status half_a_window(Trainer& trainer, std::span<const std::int32_t> ids) {
  return trainer.accumulate(ids, ids, {1, 9});
}
