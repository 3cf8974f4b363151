# thimble for a build that is not its own (Zephyr, ESP-IDF): sources, include folders, options. The generated protobuf
# sources and nanopb lie in build/library/thimble/src, where tools/board_library puts them.
get_filename_component(THIMBLE_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(THIMBLE_PACKAGE ${THIMBLE_ROOT}/build/library/thimble/src CACHE PATH "Made by tools/board_library")
if(NOT EXISTS ${THIMBLE_PACKAGE}/pb.h)
  message(FATAL_ERROR "run tools/board_library first: ${THIMBLE_PACKAGE} has no generated sources")
endif()
file(GLOB_RECURSE THIMBLE_SOURCES ${THIMBLE_PACKAGE}/*.cpp ${THIMBLE_PACKAGE}/*.c)
set(THIMBLE_INCLUDES ${THIMBLE_PACKAGE})
set(THIMBLE_CXX_OPTIONS -std=gnu++20 -ffp-contract=off -fno-math-errno -fconstexpr-ops-limit=4000000000
  -fconstexpr-loop-limit=100000000)
set(THIMBLE_DEFINITIONS PB_NO_ERRMSG)
