// message: changes the bits of every sum
#ifdef THIMBLE_BAD
#define __FAST_MATH__ 1
#endif
#include "core/base/build_gate.hpp"
