#pragma once
/// What a sketch includes, beside the header of its model (models/microgpt.hpp ...).

#if __cplusplus < 202002L
#error "thimble needs C++20: see compiler flags in its README"
#endif

#include "ports/minimal/minimal_port.hpp"
#include "ports/minimal/minimal_program.hpp"
