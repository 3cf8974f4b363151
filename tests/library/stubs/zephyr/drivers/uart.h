#pragma once
#include <zephyr/device.h>
extern "C" {
int uart_poll_in(const device*, unsigned char*);
void uart_poll_out(const device*, unsigned char);
}
