#pragma once
#include <stdint.h>
extern "C" int64_t k_uptime_ticks(void);
extern "C" uint64_t k_ticks_to_us_floor64(uint64_t);
#define CODE_UNREACHABLE __builtin_unreachable()
