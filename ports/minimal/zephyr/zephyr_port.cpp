/// The functions of ports/minimal on Zephyr: the console UART, whose interrupt fills a ring; the uptime clock; the storage
/// partition.

#include <zephyr/device.h>
#include <zephyr/drivers/flash.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>
#include <zephyr/sys/reboot.h>

#include <atomic>

#include "ports/minimal/minimal_port.hpp"

#if FIXED_PARTITION_EXISTS(storage_partition)
#define THIMBLE_FLASH_BYTES FIXED_PARTITION_SIZE(storage_partition)
#define THIMBLE_FLASH_OFFSET FIXED_PARTITION_OFFSET(storage_partition)
#define THIMBLE_FLASH_DEVICE FIXED_PARTITION_DEVICE(storage_partition)
#else
#error "thimble keeps checkpoints in storage_partition: give the board one in an overlay"
#endif
#define THIMBLE_ERASE_BYTES DT_PROP(DT_CHOSEN(zephyr_flash), erase_block_size)
#define THIMBLE_PROGRAM_BYTES DT_PROP(DT_CHOSEN(zephyr_flash), write_block_size)

namespace {

const device* const uart = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));
const device* const flash = THIMBLE_FLASH_DEVICE;

/// What has arrived: the interrupt writes, the program reads. The counts wrap around.
constexpr std::uint32_t kRingBytes = 256;
std::uint8_t ring[kRingBytes];
std::atomic<std::uint32_t> written, taken;

/// Where the ring is full the byte is lost, and the frame it belongs to with it: the host says it again.
void take_received(const device* from, void*) {
  if (uart_irq_update(from) == 0) return;
  while (uart_irq_rx_ready(from) > 0) {
    std::uint8_t b;
    if (uart_fifo_read(from, &b, 1) != 1) return;
    const std::uint32_t n = written.load(std::memory_order_relaxed);
    if (n - taken.load(std::memory_order_acquire) == kRingBytes) continue;
    ring[n % kRingBytes] = b;
    written.store(n + 1, std::memory_order_release);
  }
}

void listen() {
  static bool listening = false;
  if (listening) return;
  listening = true;
  uart_irq_callback_set(uart, take_received);
  uart_irq_rx_enable(uart);
}

}  // namespace

extern "C" {

int thimble_board_receive(void) {
  listen();
  const std::uint32_t n = taken.load(std::memory_order_relaxed);
  if (n == written.load(std::memory_order_acquire)) return -1;
  const int b = ring[n % kRingBytes];
  taken.store(n + 1, std::memory_order_release);
  return b;
}
void thimble_board_send(std::uint8_t byte) { uart_poll_out(uart, byte); }
std::uint32_t thimble_board_microseconds(void) { return std::uint32_t(k_ticks_to_us_floor64(k_uptime_ticks())); }

[[noreturn]] void thimble_board_exit(int) {
  sys_reboot(SYS_REBOOT_COLD);
  CODE_UNREACHABLE;
}

const std::uint32_t thimble_board_flash_block_count = THIMBLE_FLASH_BYTES / THIMBLE_ERASE_BYTES;
const std::uint32_t thimble_board_flash_erase_bytes = THIMBLE_ERASE_BYTES;
const std::uint32_t thimble_board_flash_program_bytes = THIMBLE_PROGRAM_BYTES;

int thimble_board_flash_read(std::uint32_t address, void* to, std::uint32_t bytes) {
  return flash_read(flash, THIMBLE_FLASH_OFFSET + address, to, bytes);
}
int thimble_board_flash_program(std::uint32_t address, const void* from, std::uint32_t bytes) {
  return flash_write(flash, THIMBLE_FLASH_OFFSET + address, from, bytes);
}
int thimble_board_flash_erase(std::uint32_t block) {
  return flash_erase(flash, THIMBLE_FLASH_OFFSET + block * THIMBLE_ERASE_BYTES, THIMBLE_ERASE_BYTES);
}

}  // extern "C"
