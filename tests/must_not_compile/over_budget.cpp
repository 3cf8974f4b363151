// message: the model does not fit its budget
// message: Needed<137088>
// message: Available<100000>
// message: Missing<37088>
// message: LargeTensor{"h.0.mlp.c_fc.weight", "weight", 4096}
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
