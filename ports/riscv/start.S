/* Reset and traps of a RISC-V hart in machine mode. */
#if __riscv_xlen == 64
#define STORE sd
#define WORD 8
#else
#define STORE sw
#define WORD 4
#endif

  .section .vectors, "ax"
  .globl thimble_reset
thimble_reset:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, thimble_stack_top
#if defined(__riscv_flen)
  li t0, 0x2000          /* mstatus.FS: initial */
  csrs mstatus, t0
  csrw fcsr, zero
#endif
  la t0, thimble_trap
  csrw mtvec, t0
  tail thimble_start

/* An interrupt goes to its handler, which saves what it uses; everything else is a fault. */
  .section .text.thimble_trap, "ax"
  .balign 4
thimble_trap:
  csrw mscratch, t0
  csrr t0, mcause
  bgez t0, fault
  csrr t0, mscratch
  j thimble_interrupt

/* The registers x1 to x31 as they were, for the report, which runs on a fresh stack. */
fault:
  la t0, thimble_trap_registers
  .irp n, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  STORE x\n, \n*WORD(t0)
  .endr
  csrr t1, mscratch
  STORE t1, 5*WORD(t0)
  la sp, thimble_stack_top
  tail thimble_report_fault
