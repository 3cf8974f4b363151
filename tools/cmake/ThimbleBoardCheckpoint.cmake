# thimble_checkpoint for a board: core/checkpoint and nanopb's C sources, compiled for it.
find_program(NANOPB_GENERATOR NAMES nanopb_generator nanopb_generator.py)
if(NOT NANOPB_GENERATOR)
  message(FATAL_ERROR "nanopb_generator is missing: apt-get install nanopb")
endif()
set(THIMBLE_NANOPB ${PROJECT_SOURCE_DIR}/build/nanopb CACHE PATH "nanopb's C sources; tools/board_nanopb gets them")
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/board_nanopb ${THIMBLE_NANOPB} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "nanopb's C sources are not in ${THIMBLE_NANOPB}, and tools/board_nanopb could not get them")
endif()

# thimble_nanopb_source(SCHEMA OUT): the C source of SCHEMA.proto (a path below the root, without .proto).
function(thimble_nanopb_source schema out)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${generated}/${schema}.pb.c ${generated}/${schema}.pb.h
    COMMAND ${NANOPB_GENERATOR} -q -I . -D ${generated} ${schema}.proto
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS ${PROJECT_SOURCE_DIR}/${schema}.proto ${PROJECT_SOURCE_DIR}/${schema}.options VERBATIM)
  set(${out} ${generated}/${schema}.pb.c ${generated}/${schema}.pb.h PARENT_SCOPE)
endfunction()

thimble_nanopb_source(core/checkpoint/checkpoint schema_source)
file(GLOB checkpoint_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/checkpoint/*.cpp)
add_library(thimble_checkpoint STATIC ${checkpoint_sources} ${schema_source}
  ${THIMBLE_NANOPB}/pb_common.c ${THIMBLE_NANOPB}/pb_decode.c ${THIMBLE_NANOPB}/pb_encode.c)
target_include_directories(thimble_checkpoint SYSTEM PUBLIC ${THIMBLE_NANOPB})
target_compile_definitions(thimble_checkpoint PUBLIC PB_NO_ERRMSG)
target_link_libraries(thimble_checkpoint PUBLIC thimble_board_flags)
