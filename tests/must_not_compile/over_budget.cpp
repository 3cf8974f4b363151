// message: the model does not fit its budget
#include "core/train/trainer.hpp"
#include "models/decoder.hpp"

using Kernels = thimble::Simd<float, thimble::Plain<thimble::Profile::fused>>;
#ifdef THIMBLE_BAD
constexpr int kBudget = 100'000;
#else
constexpr int kBudget = 262'144;
#endif

using Trainer = thimble::Trainer<thimble::Decoder, Kernels, {.extent = {1, 9}, .budget_bytes = kBudget}>;
static_assert(sizeof(Trainer) <= 262'144);
