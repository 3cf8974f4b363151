# Reads the board's folder; writes the linker script, board_config.hpp and board.json.
include(ThimbleBoardFacts)
thimble_board_facts(${THIMBLE_BOARD})
if(BOARD_FAMILY STREQUAL riscv AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL riscv OR
   BOARD_FAMILY STREQUAL cortex_m AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL arm)
  message(FATAL_ERROR "${BOARD_NAME} needs --toolchain tools/cmake/boards/${BOARD_FAMILY}.cmake (and an empty build folder)")
endif()

set(BOARD_LINKER_SCRIPT ${PROJECT_BINARY_DIR}/generated/image.ld)
configure_file(${BOARD_FAMILY_FOLDER}/image.ld.in ${BOARD_LINKER_SCRIPT} @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/ports/bare/board_config.hpp.in ${PROJECT_BINARY_DIR}/generated/board_config.hpp @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/ports/image/board.json.in ${PROJECT_BINARY_DIR}/board.json @ONLY)
