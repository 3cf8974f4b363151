#pragma once
#include <stdint.h>
#include <zephyr/device.h>
extern "C" {
typedef void (*uart_irq_callback_user_data_t)(const device*, void*);
int uart_irq_callback_set(const device*, uart_irq_callback_user_data_t);
void uart_irq_rx_enable(const device*);
int uart_irq_update(const device*);
int uart_irq_rx_ready(const device*);
int uart_fifo_read(const device*, uint8_t*, int);
void uart_poll_out(const device*, unsigned char);
}
