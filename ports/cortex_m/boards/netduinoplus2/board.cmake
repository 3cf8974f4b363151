# M4F of the Netduino Plus 2. Checkpoints take the last blocks of the flash: number, erase bytes, program bytes.
set(BOARD_PART "STM32F405")
set(BOARD_CPU -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard)
set(BOARD_PROFILE fused)
set(BOARD_FLASH 0x08000000 1024K)
set(BOARD_RAM 0x20010000 128K)  # QEMU has one range of 192 KiB: the CCM is its lower part here
set(BOARD_SECOND_RAM 0x20000000 64K)
set(BOARD_STACK_BYTES 8192)
set(BOARD_CHECKPOINT_BLOCKS 4 131072 4)
set(BOARD_UART stm32f4 ADDRESS 0x40011000 IRQ 37)
set(BOARD_CLOCK_HZ 168000000)
set(BOARD_QEMU qemu-system-arm -M netduinoplus2)
