#pragma once
#include <zephyr/device.h>
#define FIXED_PARTITION_EXISTS(label) 1
#define FIXED_PARTITION_SIZE(label) 0x40000
#define FIXED_PARTITION_OFFSET(label) 0xC0000
#define FIXED_PARTITION_DEVICE(label) (&the_device)
