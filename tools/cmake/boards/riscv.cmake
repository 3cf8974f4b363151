# The cross compiler for RISC-V boards. Its C++ headers are those of the Arm compiler: the same version, and independent
# of the processor.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv)
find_program(riscv_gcc riscv64-unknown-elf-g++)
file(GLOB riscv_headers LIST_DIRECTORIES true /usr/lib/picolibc/riscv64-unknown-elf/include /usr/include/newlib/c++/12*)
list(LENGTH riscv_headers riscv_header_count)
if(NOT riscv_gcc OR riscv_header_count LESS 2)
  message(FATAL_ERROR "the RISC-V compiler or its headers are missing: "
    "apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf libstdc++-arm-none-eabi-newlib")
endif()
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
