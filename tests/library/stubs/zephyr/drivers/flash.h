#pragma once
#include <stddef.h>
#include <sys/types.h>
#include <zephyr/device.h>
extern "C" {
int flash_read(const device*, off_t, void*, size_t);
int flash_write(const device*, off_t, const void*, size_t);
int flash_erase(const device*, off_t, size_t);
}
