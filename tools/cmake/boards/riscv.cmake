# The cross compiler for RISC-V boards. Its C++ headers are those of the Arm compiler: the same version, and independent
# of the processor.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv)
find_program(riscv_gcc riscv64-unknown-elf-g++)
file(GLOB riscv_headers LIST_DIRECTORIES true /usr/include/newlib/c++/*)
if(NOT riscv_gcc OR NOT riscv_headers OR NOT EXISTS /usr/lib/picolibc/riscv64-unknown-elf/include)
  message(FATAL_ERROR "the RISC-V compiler or its headers are missing: "
    "apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf libstdc++-arm-none-eabi-newlib")
endif()
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
