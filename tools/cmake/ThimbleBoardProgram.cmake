# thimble_checkpoint and thimble_program for a board: the sources of the host's libraries and nanopb's C sources, compiled
# for it.
include(ThimbleNanopb)
set(THIMBLE_NANOPB ${PROJECT_SOURCE_DIR}/build/nanopb CACHE PATH "nanopb's C sources; tools/board_nanopb gets them")
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/board_nanopb ${THIMBLE_NANOPB} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "nanopb's C sources are not in ${THIMBLE_NANOPB}, and tools/board_nanopb could not get them")
endif()

thimble_nanopb(core/checkpoint/checkpoint)
thimble_nanopb(ports/protocol/board core/checkpoint/checkpoint)
set(schemas ${THIMBLE_GENERATED}/core/checkpoint/checkpoint.pb ${THIMBLE_GENERATED}/ports/protocol/board.pb)
file(GLOB checkpoint_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/checkpoint/*.cpp)
file(GLOB program_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ports/protocol/*.cpp ${PROJECT_SOURCE_DIR}/ports/program/*.cpp)
list(TRANSFORM schemas APPEND .c OUTPUT_VARIABLE schema_sources)
list(TRANSFORM schemas APPEND .h OUTPUT_VARIABLE schema_headers)
add_library(thimble_program STATIC ${checkpoint_sources} ${program_sources} ${schema_sources} ${schema_headers}
  ${THIMBLE_NANOPB}/pb_common.c ${THIMBLE_NANOPB}/pb_decode.c ${THIMBLE_NANOPB}/pb_encode.c)
target_include_directories(thimble_program SYSTEM PUBLIC ${THIMBLE_NANOPB})
target_compile_definitions(thimble_program PUBLIC PB_NO_ERRMSG)
target_link_libraries(thimble_program PUBLIC thimble_board_flags)
