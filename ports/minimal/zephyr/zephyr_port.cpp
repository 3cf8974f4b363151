/// The functions of ports/minimal on Zephyr: the console UART, polled; the uptime clock; the storage partition.

#include <zephyr/device.h>
#include <zephyr/drivers/flash.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>
#include <zephyr/sys/reboot.h>

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

}  // namespace

extern "C" {

int thimble_board_receive(void) {
  unsigned char b;
  return uart_poll_in(uart, &b) == 0 ? b : -1;
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
