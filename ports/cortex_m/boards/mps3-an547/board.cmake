# M55 on Arm's MPS3, secure state. Checkpoints take the last blocks of the flash: number, erase bytes, program bytes.
set(BOARD_PART "M55M1")
set(BOARD_CPU -mcpu=cortex-m55+nomve -mfloat-abi=hard)
set(BOARD_PROFILE fused)
set(BOARD_FLASH 0x00000000 2048K)
set(BOARD_QEMU_FLASH_BYTES 524288)  # QEMU has memory for the first 512 KiB of it only
set(BOARD_RAM 0x31000000 1344K)
set(BOARD_SECOND_RAM 0x30000000 128K)
set(BOARD_STACK_BYTES 8192)
set(BOARD_CHECKPOINT_BLOCKS 32 8192 4)
set(BOARD_UART cmsdk ADDRESS 0x59303000 IRQ 33)
set(BOARD_CLOCK_HZ 32000000)
set(BOARD_QEMU qemu-system-arm -M mps3-an547)
